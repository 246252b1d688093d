/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "chains/blocked_on.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"

enum {
	SUMS_MAX = 1 << 14,
	DEPTH_MAX = 64,
	/* A walk takes so many steps on average at most, or so many a part; a long one may use what others have left over, and what is there at first. */
	STEPS = 128,
	STEPS_A_PART = 4,
	STEPS_SAVED_MAX = 1 << 16,
};

struct blocked_on {
	struct past *(*find)(void *data, uint32_t thread);
	void *data;
	struct table *sums;
	struct chain_budget *budget;
	uint64_t steps, walks;
};

/* A walk adds to all of these. */
struct walk {
	struct blocked_on *blocked;
	struct blocked_sum *sums[2];
	double weights[2];
	size_t count;
};

struct blocked_on *blocked_on_new(struct past *(*find)(void *data, uint32_t thread), void *data,
				  struct chain_budget *budget)
{
	struct blocked_on *blocked = xcalloc(1, sizeof(*blocked));

	blocked->find = find;
	blocked->data = data;
	blocked->budget = budget;
	blocked->steps = STEPS_SAVED_MAX;
	blocked->sums = table_new();
	return blocked;
}

void blocked_on_free(struct blocked_on *blocked)
{
	struct blocked_sum *sum;
	size_t cursor = 0;

	if (!blocked)
		return;
	while ((sum = table_next(blocked->sums, &cursor)))
		blocked_sum_free(sum, blocked->budget);
	table_free(blocked->sums);
	free(blocked);
}

/* --- Adding -------------------------------------------------------------------------------------- */

static void add_time(const struct walk *walk, enum blocked_kind kind, uint64_t ns)
{
	for (size_t i = 0; i < walk->count; i++)
		walk->sums[i]->ns[kind] += walk->weights[i] * ns;
}

/* Walks go back in time, but one after the other they end later and later: what is new to a walk is counted. */
static void count_sample(const struct blocked_on *blocked, struct blocked_sum *sum, const struct past_sample *sample)
{
	uint64_t *newest_ns = &sum->newest_ns[sample->source];

	if (sum->walk != blocked->walks) {
		memcpy(sum->latest_ns, sum->newest_ns, sizeof(sum->latest_ns));
		sum->walk = blocked->walks;
	}
	sum->sample_count[sample->source] += sample->time_ns > sum->latest_ns[sample->source];
	if (sample->time_ns > *newest_ns)
		*newest_ns = sample->time_ns;
}

static void add_sample(const struct walk *walk, size_t k, const struct past_sample *sample)
{
	struct blocked_sum *sum = walk->sums[k];
	double weight = walk->weights[k] * sample->weight;

	blocked_sum_add_code(sum, walk->blocked->budget, sample->code, sample->kin, weight);
	sum->weight[sample->source] += weight;
	count_sample(walk->blocked, sum, sample);
}

static void add_samples(const struct walk *walk, const struct past *past, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t first = past_first_sample(past);
	uint64_t i = BOUND_BACK(first, past->sample_count, k, past_sample(past, k)->time_ns <= begin_ns);

	for (; i < past->sample_count && past_sample(past, i)->time_ns <= end_ns && walk->blocked->steps; i++) {
		const struct past_sample *sample = past_sample(past, i);

		walk->blocked->steps--;
		for (size_t k = 0; k < walk->count; k++)
			add_sample(walk, k, sample);
	}
}

/* --- Walking ------------------------------------------------------------------------------------- */

static void walk_back(const struct walk *walk, struct past *past, uint64_t begin_ns, uint64_t end_ns, unsigned depth);

/* Who waited at the path was blocked on this one; all that comes now is behind that wait. */
static void walk_link(const struct walk *walk, const struct wait_path *path, struct past *waker, uint64_t begin_ns,
		      uint64_t end_ns, unsigned depth)
{
	struct walk behind = *walk;

	for (size_t i = 0; i < walk->count; i++)
		behind.sums[i] = blocked_sum_link(walk->sums[i], walk->blocked->budget, path);
	walk_back(&behind, waker, begin_ns, end_ns, depth);
}

/* Here the chain ends: no traced thread is behind the wait. */
static void add_end(const struct walk *walk, const struct past_part *part, uint64_t ns)
{
	add_time(walk, BLOCKED_WAITING, ns);
	for (size_t i = 0; i < walk->count; i++)
		blocked_sum_add_wait(walk->sums[i], walk->blocked->budget, part->cause, part->path,
				     walk->weights[i] * ns);
}

/* What the thread did in a part of its past. */
static void walk_part(const struct walk *walk, const struct past *past, const struct past_part *part, uint64_t begin_ns,
		      uint64_t end_ns, unsigned depth)
{
	struct past *waker;

	switch (part->phase) {
	case PHASE_RUNNING:
		add_time(walk, BLOCKED_RUNNING, end_ns - begin_ns);
		add_samples(walk, past, begin_ns, end_ns);
		break;
	case PHASE_RUNNABLE:
		add_time(walk, BLOCKED_CPU_WAIT, end_ns - begin_ns);
		break;
	case PHASE_BLOCKED:
		waker = part->waker && depth < DEPTH_MAX ? walk->blocked->find(walk->blocked->data, part->waker) : NULL;
		if (waker)
			walk_link(walk, part->path, waker, begin_ns, end_ns, depth + 1);
		else if (part->waker || part->cause == CAUSES)
			add_time(walk, BLOCKED_UNKNOWN, end_ns - begin_ns);
		else
			add_end(walk, part, end_ns - begin_ns);
		break;
	default:
		add_time(walk, BLOCKED_UNKNOWN, end_ns - begin_ns);
	}
}

/* Whether so long ago there was something that is not kept any more. */
static void want_more(struct past *past, uint64_t begin_ns)
{
	uint64_t part = past_first_part(past), sample = past_first_sample(past);

	past->wants_parts |= part && past_part(past, part)->begin_ns > begin_ns;
	past->wants_samples |= sample && past_sample(past, sample)->time_ns > begin_ns;
}

/* Parts that are not kept are known on average; what is not even in the life is unknown. */
static void walk_life(const struct walk *walk, const struct past *past, uint64_t begin_ns, uint64_t end_ns)
{
	const struct past_life *of = &past->life;
	const struct blocked_sum *life = of->sum;
	uint64_t from_ns = life && of->begin_ns > begin_ns ? of->begin_ns : begin_ns;
	uint64_t to_ns = life && of->end_ns < end_ns ? of->end_ns : end_ns;
	uint64_t steps = life ? 1 + life->code_count + life->wait_count : 0;
	uint64_t summed_ns = of->end_ns - of->begin_ns - of->pending_ns;
	double part;

	if (!life || to_ns <= from_ns || !summed_ns || walk->blocked->steps < steps) {
		add_time(walk, BLOCKED_UNKNOWN, end_ns - begin_ns);
		return;
	}
	walk->blocked->steps -= steps;
	part = (double)(to_ns - from_ns) / summed_ns;
	for (size_t i = 0; i < walk->count; i++)
		if (walk->sums[i] != life)
			blocked_sum_add_part(walk->sums[i], walk->blocked->budget, life, walk->weights[i] * part);
	add_time(walk, BLOCKED_UNKNOWN, end_ns - begin_ns - (to_ns - from_ns));
}

/* What is kept, and before that what the life says. */
static void walk_back(const struct walk *walk, struct past *past, uint64_t begin_ns, uint64_t end_ns, unsigned depth)
{
	uint64_t first = past_first_part(past);
	uint64_t i = BOUND_BACK(first, past->part_count, k, past_part(past, k)->begin_ns < end_ns);

	want_more(past, begin_ns);
	for (; i > first && end_ns > begin_ns && walk->blocked->steps; i--) {
		const struct past_part *part = past_part(past, i - 1);
		uint64_t from_ns = part->begin_ns > begin_ns ? part->begin_ns : begin_ns;

		walk->blocked->steps--;
		walk_part(walk, past, part, from_ns, end_ns, depth);
		end_ns = from_ns;
	}
	if (end_ns > begin_ns)
		walk_life(walk, past, begin_ns, end_ns);
}

static struct blocked_sum *get_sum(struct blocked_on *blocked, const void *key, const struct wait_path *path)
{
	struct blocked_sum *sum = key ? table_find(blocked->sums, (uintptr_t)key) : NULL;

	if (sum || !key || (table_count(blocked->sums) >= SUMS_MAX && key != blocked))
		return sum;
	sum = xcalloc(1, sizeof(*sum));
	sum->path = path;
	sum->has_links = path;
	table_put(blocked->sums, (uintptr_t)key, sum);
	return sum;
}

static void save_steps(struct blocked_on *blocked, uint64_t steps)
{
	blocked->steps = blocked->steps + steps < STEPS_SAVED_MAX ? blocked->steps + steps : STEPS_SAVED_MAX;
}

void blocked_on_end(struct blocked_on *blocked, struct past *waker, uint64_t begin_ns, uint64_t end_ns,
		    const struct blocked_key *keys, size_t key_count)
{
	struct walk walk = { .blocked = blocked };

	for (size_t i = 0; i < key_count && walk.count < sizeof(walk.sums) / sizeof(*walk.sums); i++) {
		struct blocked_sum *sum = get_sum(blocked, keys[i].key, keys[i].path);

		if (!sum)
			continue;
		walk.weights[walk.count] = keys[i].weight;
		walk.sums[walk.count++] = sum;
	}
	if (!walk.count || end_ns <= begin_ns)
		return;
	save_steps(blocked, STEPS);
	blocked->walks++;
	walk_back(&walk, waker, begin_ns, end_ns, 0);
}

void blocked_on_end_cpu_wait(struct blocked_on *blocked, struct past *cpu, uint64_t begin_ns, uint64_t end_ns)
{
	struct walk walk = { .blocked = blocked, .weights = { 1 }, .count = 1 };

	if (!cpu->sample_count || past_sample(cpu, cpu->sample_count - 1)->time_ns <= begin_ns)
		return;
	walk.sums[0] = get_sum(blocked, blocked, NULL);
	save_steps(blocked, STEPS);
	blocked->walks++;
	want_more(cpu, begin_ns);
	add_samples(&walk, cpu, begin_ns, end_ns);
}

const struct blocked_sum *blocked_on_cpu_sum(const struct blocked_on *blocked)
{
	return blocked_on_sum(blocked, blocked);
}

/* After how much time in waits the next one stands for all of it, after the one that began then. */
static uint64_t next_stand_ns(const struct past_life *life, uint64_t begin_ns)
{
	enum { WAITS_EXACT = 256, WAITS_A_WALK = 8 };
	double chance = (hash_u64(begin_ns) >> 11) * 0x1p-53;

	if (life->waits < WAITS_EXACT)
		return 0;
	/* From a half of the mean to one and a half: who waits in turns must not be met in the same turn always. */
	return (0.5 + chance) * WAITS_A_WALK * life->waited_ns / life->waits;
}

/* The wait stands for those before it, too, which no other one did. */
static void add_wait_to_life(struct walk *walk, struct past_life *life, const struct past *past,
			     const struct past_part *part, uint64_t end_ns)
{
	uint64_t wait_ns = end_ns - part->begin_ns;

	life->waits++;
	life->waited_ns += wait_ns;
	life->pending_ns += wait_ns;
	if (!wait_ns || life->pending_ns < life->stand_ns)
		return;
	walk->weights[0] = (double)life->pending_ns / wait_ns;
	walk_part(walk, past, part, part->begin_ns, end_ns, 0);
	walk->weights[0] = 1;
	life->pending_ns = 0;
	life->stand_ns = next_stand_ns(life, part->begin_ns);
}

static void begin_life(struct past_life *life, uint64_t begin_ns)
{
	if (life->sum)
		return;
	life->sum = xcalloc(1, sizeof(*life->sum));
	life->begin_ns = life->end_ns = begin_ns;
}

void blocked_on_extend_life(struct blocked_on *blocked, struct past *past)
{
	uint64_t first = past_first_part(past), last = past->part_count - 1, begin_ns;
	struct walk walk = { .blocked = blocked, .weights = { 1 }, .count = 1 };
	struct past_life *life = &past->life;

	begin_life(life, past_part(past, first)->begin_ns);
	walk.sums[0] = life->sum;
	save_steps(blocked, (past->part_count - life->parts) * STEPS_A_PART);
	blocked->walks++;
	if (life->parts > first)
		first = life->parts;
	begin_ns = past_part(past, first)->begin_ns;
	if (begin_ns > life->end_ns) /* parts that were lost */
		add_time(&walk, BLOCKED_UNKNOWN, begin_ns - life->end_ns);
	for (uint64_t i = first; i < last; i++) {
		const struct past_part *part = past_part(past, i);
		uint64_t end_ns = past_part(past, i + 1)->begin_ns;

		if (part->phase == PHASE_BLOCKED)
			add_wait_to_life(&walk, life, past, part, end_ns);
		else
			walk_part(&walk, past, part, part->begin_ns, end_ns, 0);
	}
	life->end_ns = past_part(past, last)->begin_ns;
	life->parts = last;
}

const struct blocked_sum *blocked_on_sum(const struct blocked_on *blocked, const void *key)
{
	return blocked ? table_find(blocked->sums, (uintptr_t)key) : NULL;
}
