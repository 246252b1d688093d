/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export_choice.h"

#include <stdlib.h>

#include "base/memory.h"
#include "lanes/asked_parts.h"
#include "lanes/part_choice.h"
#include "query/trace_states.h"
#include "states/states.h"

struct export_choice {
	struct states *states;
	const struct asked_parts *asked;
	struct part_choice *parts;
};

struct export_choice *export_choice_new(const struct trace_states *all, struct graph_labels *labels,
					const struct asked_parts *asked)
{
	struct export_choice *choice;

	if (!asked_parts_are_set(asked))
		return NULL;
	choice = xcalloc(1, sizeof(*choice));
	choice->states = all->states;
	choice->asked = asked;
	choice->parts = part_choice_new(all, labels, &asked->filter);
	return choice;
}

void export_choice_free(struct export_choice *choice)
{
	if (!choice)
		return;
	part_choice_free(choice->parts);
	free(choice);
}

bool export_choice_has(const struct export_choice *choice, uint32_t thread, const struct state *state)
{
	return !choice ||
	       (asked_parts_have_cause(choice->asked, state) && part_choice_has(choice->parts, thread, state));
}

bool export_choice_has_any(const struct export_choice *choice, uint32_t thread, uint64_t from_ns, uint64_t to_ns)
{
	struct state_walk walk;
	struct state state;

	if (!choice)
		return true;
	states_walk(choice->states, thread, from_ns, to_ns > from_ns ? to_ns : from_ns + 1, &walk);
	while (state_walk_next(&walk, &state))
		if (export_choice_has(choice, thread, &state))
			return true;
	return false;
}
