/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/event_loop.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/syscalls.h"
#include "values.h"
#include "waits/wait_cause.h"

enum { RANK_LIST = 1, RANK_QUEUE = 2, CLASS_BITS = 20, YIELD_POLLS = 2 };

static const uint64_t random_seed = 0x9e3779b97f4a7c15;

uint8_t event_loop_rank(const struct wait_facts *facts)
{
	if (facts->state != SWITCH_SLEEPING || wait_has_klock(facts))
		return 0;
	switch (syscall_poll(facts->syscall)) {
	case POLL_EPOLL:
	case POLL_RING:
		return RANK_QUEUE;
	case POLL_LIST:
		return facts->value > 1 ? RANK_LIST : 0;
	case POLL_SELECT:
		return facts->object ? RANK_LIST : 0;
	default:
		return 0;
	}
}

unsigned int event_loop_class(uint64_t length_ns)
{
	uint64_t units = length_ns >> CLASS_BITS;
	unsigned int number = units ? 64 - __builtin_clzll(units) : 0;

	return number < LOOP_CLASSES ? number : LOOP_CLASSES - 1;
}

uint64_t event_loop_class_ns(unsigned int number)
{
	return number ? 1ull << (number - 1 + CLASS_BITS) : 0;
}

struct event_loop *event_loop_new(void)
{
	struct event_loop *loop = xcalloc(1, sizeof(*loop));

	loop->random = random_seed;
	return loop;
}

static void free_classes(struct event_loop *loop)
{
	for (size_t i = 0; i < LOOP_CLASSES; i++)
		free(loop->classes[i]);
}

void event_loop_free(struct event_loop *loop)
{
	if (!loop)
		return;
	free_classes(loop);
	free(loop);
}

/* --- Samples and waits --------------------------------------------------------------------------- */

/* Below the bound, which is not 0; a generator of linear congruences (Knuth's constants). */
static uint64_t pick(uint64_t *random, uint64_t bound)
{
	*random = *random * 6364136223846793005 + 1442695040888963407;
	return (*random >> 33) % bound;
}

/* Reservoir sampling (Vitter's algorithm R, 1985): each of those that were seen is kept with the same chance. */
static void keep_sample(struct loop_samples *samples, const struct loop_sample *sample, uint64_t *random)
{
	uint64_t place = samples->seen++;

	if (place >= LOOP_SAMPLES)
		place = pick(random, samples->seen);
	if (place < LOOP_SAMPLES)
		samples->list[place] = *sample;
}

static uint64_t kept(const struct loop_samples *samples)
{
	return samples->seen < LOOP_SAMPLES ? samples->seen : LOOP_SAMPLES;
}

/* One that stands for several goes on to do so. */
static void add_samples(struct loop_samples *into, const struct loop_samples *from, uint64_t *random)
{
	uint64_t count = kept(from);

	for (uint64_t i = 0; i < count; i++) {
		struct loop_sample sample = from->list[i];

		sample.weight *= (double)from->seen / count;
		keep_sample(into, &sample, random);
	}
	into->count += from->count;
}

/* The shortest one gives way. */
static void add_wait(struct loop_waits *waits, const struct loop_wait *wait)
{
	struct loop_wait *least = &waits->list[0];

	for (size_t i = 0; i < LOOP_WAITS; i++) {
		struct loop_wait *other = &waits->list[i];

		if (other->ns && other->path == wait->path && other->cause == wait->cause) {
			other->ns += wait->ns;
			return;
		}
		if (other->ns < least->ns)
			least = other;
	}
	if (wait->ns <= least->ns) {
		waits->others_ns += wait->ns;
		return;
	}
	waits->others_ns += least->ns;
	*least = *wait;
}

static void add_waits(struct loop_waits *into, const struct loop_waits *from)
{
	for (size_t i = 0; i < LOOP_WAITS; i++)
		if (from->list[i].ns)
			add_wait(into, &from->list[i]);
	into->others_ns += from->others_ns;
}

/* --- Iterations ---------------------------------------------------------------------------------- */

static void add_times(struct loop_times *into, const struct loop_times *from)
{
	into->ns += from->ns;
	into->running_ns += from->running_ns;
	into->cpu_wait_ns += from->cpu_wait_ns;
	into->waiting_ns += from->waiting_ns;
}

static void add_turns(struct loop_turns *into, const struct loop_turns *from)
{
	for (size_t i = 0; i < LOOP_CLASSES; i++) {
		into->known[i] += from->known[i];
		into->at_least[i] += from->at_least[i];
	}
}

void loop_part_add(struct loop_part *into, const struct loop_part *from, uint64_t *random)
{
	into->count += from->count;
	into->asked_count += from->asked_count;
	if (from->max_ns > into->max_ns) {
		into->max_ns = from->max_ns;
		into->begin_ns = from->begin_ns;
	}
	add_times(&into->times, &from->times);
	add_samples(&into->samples, &from->samples, random);
	add_turns(&into->turns, &from->turns);
	add_waits(&into->waits, &from->waits);
}

static struct loop_part *get_class(struct event_loop *loop, uint64_t length_ns)
{
	struct loop_part **class = &loop->classes[event_loop_class(length_ns)];

	if (!*class)
		*class = xcalloc(1, sizeof(**class));
	return *class;
}

static void begin_work(struct event_loop *loop, const struct loop_moment *now, bool is_asked)
{
	loop->is_working = true;
	loop->since = *now;
	loop->now = (struct loop_part){ .count = 1, .asked_count = is_asked, .begin_ns = now->time_ns };
}

static void end_work(struct event_loop *loop, const struct loop_moment *now)
{
	struct loop_part *part = &loop->now;

	if (!loop->is_working)
		return;
	loop->is_working = false;
	part->times = (struct loop_times){
		.ns = now->time_ns - loop->since.time_ns,
		.running_ns = now->running_ns - loop->since.running_ns,
		.cpu_wait_ns = now->runnable_ns - loop->since.runnable_ns,
		.waiting_ns = now->blocked_ns - loop->since.blocked_ns,
	};
	part->max_ns = part->times.ns;
	loop->count++;
	loop->asked_count += part->asked_count;
	loop->lengths[length_index(part->max_ns)]++;
	add_times(&loop->times, &part->times);
	loop_part_add(get_class(loop, part->max_ns), part, &loop->random);
	if (part->max_ns >= loop->longest.max_ns)
		loop->longest = *part;
}

static void end_poll(struct event_loop *loop, const struct loop_moment *now)
{
	if (!loop->is_polling)
		return;
	loop->is_polling = false;
	loop->polls++;
	loop->polled_ns += now->time_ns - loop->since.time_ns;
}

/* It is another loop: what was taken for one before was within its iterations, or came before it. */
static void begin_anew(struct event_loop *loop, uint8_t rank, uint64_t queue)
{
	free_classes(loop);
	*loop = (struct event_loop){ .rank = rank, .queue = queue, .random = loop->random };
}

static uint64_t queue_of(const struct wait_facts *facts, uint8_t rank)
{
	if (rank < RANK_QUEUE)
		return 0;
	return syscall_poll(facts->syscall) == POLL_RING ? facts->object : facts->value;
}

/* Whether its own queue has never brought a request: then it may be that of a handler, met first. Only once, for both may be so. */
static bool yields(const struct event_loop *loop)
{
	return !loop->has_yielded && loop->polls >= YIELD_POLLS && !loop->asked_count && !loop->now.asked_count;
}

/* Whether the poll is the loop's own: a handler may have a queue of its own, in which it waits for what it has started. */
static bool is_own_poll(struct event_loop *loop, uint8_t rank, uint64_t queue)
{
	bool has_yielded = loop->has_yielded;

	if (!rank || rank < loop->rank)
		return false;
	if (rank == loop->rank && queue == loop->queue) {
		loop->other_polls = 0;
		return true;
	}
	if (rank == loop->rank) {
		loop->other_polls = queue == loop->other_queue ? loop->other_polls + 1 : 1;
		loop->other_queue = queue;
		has_yielded |= yields(loop);
		if (loop->other_polls <= loop->polls && has_yielded == loop->has_yielded)
			return false;
	}
	begin_anew(loop, rank, queue);
	loop->has_yielded = has_yielded;
	return true;
}

bool event_loop_begin_wait(struct event_loop *loop, const struct wait_facts *facts, const struct loop_moment *now)
{
	uint8_t rank = event_loop_rank(facts);
	bool is_own = is_own_poll(loop, rank, queue_of(facts, rank));

	loop->is_waiting = true;
	loop->wait_begin_ns = now->blocked_ns;
	if (!is_own)
		return loop->is_working && loop->rank == RANK_QUEUE;
	end_work(loop, now);
	loop->is_polling = true;
	loop->syscall = facts->syscall;
	loop->since = *now;
	return false;
}

void event_loop_end_wait(struct event_loop *loop, const struct loop_moment *now, enum wait_cause cause,
			 const struct wait_path *path, bool is_asked)
{
	struct loop_wait wait = { path, cause, now->blocked_ns - loop->wait_begin_ns };

	if (!loop->is_waiting)
		return;
	loop->is_waiting = false;
	if (loop->is_polling) {
		end_poll(loop, now);
		begin_work(loop, now, is_asked);
	} else if (loop->is_working && wait.ns) {
		add_wait(&loop->now.waits, &wait);
	}
}

void event_loop_add_sample(struct event_loop *loop, const struct code_sample *code, double weight)
{
	if (!loop->is_working)
		return;
	keep_sample(&loop->now.samples, &(struct loop_sample){ code, weight }, &loop->random);
	loop->now.samples.count++;
}

void event_loop_add_turn(struct event_loop *loop, uint64_t age_ns, bool is_least)
{
	struct loop_turns *turns = &loop->now.turns;

	if (loop->is_working)
		(is_least ? turns->at_least : turns->known)[event_loop_class(2 * age_ns)]++;
}

void event_loop_end(struct event_loop *loop, const struct loop_moment *now)
{
	end_poll(loop, now);
	end_work(loop, now);
}

struct event_loop *event_loop_copy_ended(const struct event_loop *loop, const struct loop_moment *now)
{
	struct event_loop *copy = event_loop_new();

	*copy = *loop;
	for (size_t i = 0; i < LOOP_CLASSES; i++) {
		if (!loop->classes[i])
			continue;
		copy->classes[i] = xcalloc(1, sizeof(*copy->classes[i]));
		*copy->classes[i] = *loop->classes[i];
	}
	event_loop_end(copy, now);
	return copy;
}
