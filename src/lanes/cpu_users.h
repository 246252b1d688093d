/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who had the CPU for which a thread waited. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct graph_labels;
struct result_cpu_user;
struct state;
struct trace_states;

enum { CPU_USERS_MAX = 8 };

/*
 * Of a thread that was ready, and ran after that: who had the CPU that it got then, and how long; the time without anybody counts, too, that of which
 * nobody knows does not. users
 * has space for CPU_USERS_MAX, those who had it longest first. Of another state, or where the CPU is not known: 0. Names live as long as the labels.
 */
size_t cpu_users_of(const struct trace_states *all, struct graph_labels *labels, uint32_t thread,
		    const struct state *ready, struct result_cpu_user *users, uint32_t *cpu);
