/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/states.h"

bool states_life(struct states *states, uint32_t thread, uint64_t from_ns, uint64_t to_ns, struct state_life *out)
{
	struct state_walk walk;
	struct state state;

	*out = (struct state_life){ 0 };
	states_walk(states, thread, from_ns, to_ns, &walk);
	if (!state_walk_next(&walk, &state))
		return false;
	states_add_shares(states, thread, from_ns, to_ns, out->ns);
	out->begin_ns = state.begin_ns > from_ns ? state.begin_ns : from_ns;
	out->end_ns = out->begin_ns;
	for (unsigned int share = 0; share < SHARES; share++)
		out->end_ns += out->ns[share];
	return true;
}

bool states_lives(struct states *states, const uint32_t *threads, size_t count, uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t first_ns = *to_ns, last_ns = *from_ns;
	struct state_life life;

	for (size_t i = 0; i < count; i++) {
		if (!states_life(states, threads[i], *from_ns, *to_ns, &life))
			continue;
		if (life.begin_ns < first_ns)
			first_ns = life.begin_ns;
		if (life.end_ns > last_ns)
			last_ns = life.end_ns;
	}
	if (first_ns > last_ns)
		return false;
	*from_ns = first_ns;
	*to_ns = last_ns;
	return true;
}
