/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/bound.h"
#include "states/states_internal.h"

void states_walk_cpu(struct states *states, uint32_t cpu, uint64_t from_ns, uint64_t to_ns, struct cpu_walk *walk)
{
	*walk = (struct cpu_walk){
		.states = states,
		.cpu = cpu,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.block = states_block_count(states) ? states_block_at(states, from_ns) : 0,
		.at = AT_ORIGIN,
	};
}

/* The last change of the CPU up to time_ns, or the first one after it. */
static size_t find_change(const struct open_block *open, uint32_t cpu, uint64_t time_ns)
{
	const struct owner_change *owners = open->owners;
	size_t low = BOUND(0, open->owner_count, i,
			   owners[i].cpu < cpu || (owners[i].cpu == cpu && owners[i].time_ns <= time_ns));

	return low && owners[low - 1].cpu == cpu ? low - 1 : low;
}

static bool is_of_cpu(const struct open_block *open, const struct cpu_walk *walk)
{
	return open && walk->at < open->owner_count && open->owners[walk->at].cpu == walk->cpu;
}

/* The change that the walk has come to, up to the next one; what lies behind a gap's beginning is unknown. */
static struct cpu_state piece_of(const struct cpu_walk *walk, const struct open_block *open)
{
	const struct owner_change *change = &open->owners[walk->at];
	bool has_next = walk->at + 1 < open->owner_count && change[1].cpu == walk->cpu;
	uint64_t end_ns = has_next ? change[1].time_ns : states_block_begin_ns(walk->states, walk->block + 1);
	const struct state_gap *gap = state_gaps_after(states_gaps(walk->states), change->since_ns);

	return (struct cpu_state){
		.begin_ns = change->time_ns,
		.end_ns = gap && gap->begin_ns < end_ns ? gap->begin_ns : end_ns,
		.thread = change->thread,
		.tid = change->tid,
	};
}

bool cpu_walk_next(struct cpu_walk *walk, struct cpu_state *out)
{
	bool is_known;

	while (walk->block < states_block_count(walk->states)) {
		const struct open_block *open = states_block(walk->states, walk->block, BLOCK_OWNERS);

		if (states_block_begin_ns(walk->states, walk->block) >= walk->to_ns)
			return false;
		if (open && walk->at == AT_ORIGIN)
			walk->at = find_change(open, walk->cpu, walk->from_ns);
		if (!is_of_cpu(open, walk)) {
			walk->block++;
			walk->at = AT_ORIGIN;
			continue;
		}
		*out = piece_of(walk, open);
		is_known = open->owners[walk->at++].is_known;
		if (out->begin_ns < walk->from_ns)
			out->begin_ns = walk->from_ns;
		if (out->end_ns > walk->to_ns)
			out->end_ns = walk->to_ns;
		if (out->begin_ns >= walk->to_ns)
			return false;
		if (is_known && out->begin_ns < out->end_ns)
			return true;
	}
	return false;
}
