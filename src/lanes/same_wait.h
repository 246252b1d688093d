/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of most short waits no call path is recorded: another one for the same says where it probably was. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lanes;
struct state;
struct trace_states;

/*
 * Looks for a wait of the thread's process that is for the same object in the same system call and has a call path, around the given one, which
 * has none, for about budget_ns. Puts its thread and itself into *found_thread and *found.
 */
bool same_wait_find(const struct trace_states *all, const struct lanes *lanes, uint32_t thread,
		    const struct state *wait, uint64_t budget_ns, uint32_t *found_thread, struct state *found);
