/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which states are exported: whole ones, by why threads wait, by what for, and by CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct asked_parts;
struct export_choice;
struct graph_labels;
struct state;
struct trace_states;

/* All is borrowed, the labels too. asked: of no spans. NULL: all states are chosen. */
struct export_choice *export_choice_new(const struct trace_states *all, struct graph_labels *labels,
					const struct asked_parts *asked);
void export_choice_free(struct export_choice *choice);

bool export_choice_has(const struct export_choice *choice, uint32_t thread, const struct state *state);

/* Whether a state of the thread with a part in the stretch of time is chosen. */
bool export_choice_has_any(const struct export_choice *choice, uint32_t thread, uint64_t from_ns, uint64_t to_ns);
