/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The graph against lists: random lives of threads that wait for each other, for CPUs and for devices,
 * and what Algorithm 1 of DepGraph says of them, done naively.
 */
#include "test.h"

#include <string.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "graph/critical_path.h"
#include "graph/graph.h"
#include "graph/lost_most.h"
#include "session/session.h"
#include "session/threads.h"
#include "state_stage.h"
#include "states/states.h"
#include "values.h"

enum { THREADS = 6, CPUS = 2, STATES_MAX = 40000, PLACES_MAX = 1 << 16, DEPTH = 5, STEPS_MAX = 4000 };

/* What a thread did, as it was recorded. */
struct life {
	struct part {
		uint64_t begin_ns, end_ns;
		enum { RUNS, WANTS_CPU, WAITS } kind;
		uint32_t cpu;     /* RUNS; WANTS_CPU: whose owners count, CPUS: unknown */
		uint16_t syscall; /* WAITS */
		uint32_t waker;   /* 0: not a thread */
		uint8_t how;      /* WAITS: enum waker_kind of what ended it */
	} parts[STATES_MAX];
	size_t count;
	bool is_preempted;
};

static struct {
	uint32_t seed, random;
	uint64_t now_ns;
	struct state_stage stage;
	struct life lives[THREADS + 1]; /* by number */
	uint32_t running[CPUS];         /* numbers, or 0 */
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static struct part *last_of(uint32_t number)
{
	return &w.lives[number].parts[w.lives[number].count - 1];
}

static void begin_part(uint32_t number, struct part part)
{
	struct life *life = &w.lives[number];

	if (life->count)
		last_of(number)->end_ns = w.now_ns;
	part.begin_ns = w.now_ns;
	if (life->count < STATES_MAX)
		life->parts[life->count++] = part;
}

static void emit(uint32_t number, struct state_change change)
{
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void run(uint32_t number, uint32_t cpu)
{
	/* Who was woken waits for the CPU that it gets in the end. */
	if (last_of(number)->cpu == CPUS)
		last_of(number)->cpu = cpu;
	w.running[cpu] = number;
	begin_part(number, (struct part){ .kind = RUNS, .cpu = cpu });
	emit(number, (struct state_change){ .phase = PHASE_RUNNING, .cpu = cpu });
}

static void preempt(uint32_t number, uint32_t cpu)
{
	struct ev_sched_switch e = { .state = SWITCH_RUNNABLE };

	w.running[cpu] = 0;
	begin_part(number, (struct part){ .kind = WANTS_CPU, .cpu = cpu });
	emit(number, (struct state_change){ .phase = PHASE_RUNNABLE, .out = &e });
}

static void block(uint32_t number, uint32_t cpu)
{
	static const uint16_t calls[] = { SYS_read, SYS_nanosleep, SYS_futex, SYS_semop };
	struct ev_sched_switch e = { .state = SWITCH_SLEEPING, .syscall = calls[pick(4)] };

	w.running[cpu] = 0;
	begin_part(number, (struct part){ .kind = WAITS, .syscall = e.syscall });
	emit(number, (struct state_change){ .phase = PHASE_BLOCKED, .out = &e });
}

static void wake(uint32_t number, uint32_t waker)
{
	struct ev_sched_wake e = {
		.waker = waker,
		.tid = waker ? 100 + waker : 0,
		.context = waker ? WAKE_THREAD : WAKE_HARDIRQ,
		.syscall = SYSCALL_NONE,
	};
	struct part *part = last_of(number);

	part->waker = waker;
	part->how = waker ? WAKER_THREAD : part->syscall == SYS_read ? WAKER_DISK : WAKER_TIMER;
	begin_part(number, (struct part){ .kind = WANTS_CPU, .cpu = CPUS });
	emit(number, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &e });
}

static void step(void)
{
	uint32_t cpu = pick(CPUS), number = 1 + pick(THREADS), at = w.running[cpu];

	w.now_ns += 1 + pick(1000);
	if (at && pick(2)) {
		if (pick(3))
			block(at, cpu);
		else
			preempt(at, cpu);
		return;
	}
	if (!w.lives[number].count) {
		begin_part(number, (struct part){ .kind = WANTS_CPU, .cpu = CPUS });
		emit(number, (struct state_change){ .phase = PHASE_RUNNABLE });
	} else if (last_of(number)->kind == WAITS) {
		/* By who runs, or by an interrupt. */
		wake(number, at && at != number ? at : 0);
	} else if (last_of(number)->kind == WANTS_CPU && !at) {
		run(number, cpu);
	}
}

static void play(uint32_t seed, uint32_t steps)
{
	for (uint32_t number = 0; number <= THREADS; number++)
		w.lives[number].count = 0;
	memset(w.running, 0, sizeof(w.running));
	w.seed = w.random = seed;
	w.now_ns = 1000000;
	state_stage_open(&w.stage);
	while (steps-- > 0)
		step();
	w.now_ns += 100;
	state_stage_finish(&w.stage, w.now_ns);
	for (uint32_t i = 1; i <= THREADS; i++)
		if (w.lives[i].count)
			last_of(i)->end_ns = w.now_ns;
}

static void end(void)
{
	state_stage_close(&w.stage);
}

/* --- The same, naively: sums by the way from the root -------------------------------------------- */

struct place {
	uint64_t way; /* a hash of all that is above and itself */
	uint64_t ns, count;
};

static struct place places[PLACES_MAX];
static size_t place_count;

static uint64_t way_on(uint64_t way, uint64_t kind, uint64_t id)
{
	return (way * 0x9e3779b97f4a7c15ull + kind * 1000003 + id * 7919 + 1) * 0xff51afd7ed558ccdull;
}

static void note(uint64_t way, uint64_t ns)
{
	for (size_t i = 0; i < place_count; i++) {
		if (places[i].way == way) {
			places[i].ns += ns;
			places[i].count++;
			return;
		}
	}
	CHECK_THAT(place_count, <, PLACES_MAX);
	places[place_count++] = (struct place){ way, ns, 1 };
}

static uint64_t overlap(const struct part *part, uint64_t from_ns, uint64_t to_ns, uint64_t *begin_ns)
{
	uint64_t end_ns = part->end_ns < to_ns ? part->end_ns : to_ns;

	*begin_ns = part->begin_ns > from_ns ? part->begin_ns : from_ns;
	return *begin_ns < end_ns ? end_ns - *begin_ns : 0;
}

static void note_rivals(uint64_t way, uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t rest_ns = to_ns - from_ns, begin_ns;

	for (uint32_t other = 1; other <= THREADS; other++)
		for (size_t i = 0; i < w.lives[other].count; i++) {
			const struct part *part = &w.lives[other].parts[i];
			uint64_t ns = overlap(part, from_ns, to_ns, &begin_ns);

			if (!ns || part->kind != RUNS || part->cpu != cpu)
				continue;
			note(way_on(way, GRAPH_THREAD, other), ns);
			note(way_on(way_on(way, GRAPH_THREAD, other), GRAPH_RUNNING, 0), ns);
			rest_ns -= ns;
		}
	if (rest_ns)
		note(way_on(way, GRAPH_UNKNOWN, 0), rest_ns);
}

/* The wait that says what a wait was for: one that timed out belongs to the next, if it is for the same. */
static const struct part *recorded_by(const struct life *life, size_t at)
{
	const struct part *part = &life->parts[at], *next;
	uint64_t busy_ns = 0, length_ns;

	if (part->kind != WAITS || part->syscall == SYS_nanosleep || part->how != WAKER_TIMER)
		return part;
	for (at++; at < life->count && life->parts[at].kind != WAITS; at++)
		busy_ns += life->parts[at].end_ns - life->parts[at].begin_ns;
	length_ns = part->end_ns - part->begin_ns;
	if (at == life->count || life->parts[at].syscall != part->syscall || busy_ns > length_ns)
		return part;
	next = recorded_by(life, at);
	return next->waker ? next : part;
}

/* Who ended it waited for this thread when the time was over. */
static bool waits_for(uint32_t waker, uint32_t number, uint64_t time_ns)
{
	for (size_t i = 0; i < w.lives[waker].count; i++) {
		const struct part *part = &w.lives[waker].parts[i];

		if (part->begin_ns <= time_ns && time_ns < part->end_ns)
			return part->kind == WAITS && part->waker == number;
	}
	return false;
}

/* The wait that says who ended this one. */
static const struct part *ended_as(uint32_t number, size_t at)
{
	const struct part *part = &w.lives[number].parts[at], *recorded = recorded_by(&w.lives[number], at);

	if (!recorded->waker || recorded == part || !waits_for(recorded->waker, number, part->end_ns))
		return recorded;
	return part;
}

static void walk(uint64_t way, uint32_t number, uint64_t from_ns, uint64_t to_ns, uint32_t above, unsigned int depth)
{
	uint64_t rest_ns = to_ns - from_ns;

	if (depth > DEPTH)
		return;
	for (size_t i = 0; i < w.lives[number].count; i++) {
		const struct part *part = &w.lives[number].parts[i];
		uint64_t begin_ns, ns = overlap(part, from_ns, to_ns, &begin_ns), next;

		if (!ns)
			continue;
		rest_ns -= ns;
		if (part->kind == RUNS) {
			note(way_on(way, GRAPH_RUNNING, 0), ns);
		} else if (part->kind == WANTS_CPU) {
			next = way_on(way, GRAPH_CPU, 0);
			note(next, ns);
			note_rivals(next, part->cpu, begin_ns, begin_ns + ns);
		} else {
			next = way_on(way, GRAPH_WAIT, part->syscall);
			note(next, ns);
			part = ended_as(number, i);
			if (part->waker) {
				next = way_on(next, GRAPH_THREAD, part->waker);
				note(next, ns);
				if (!(above & 1u << part->waker))
					walk(next, part->waker, begin_ns, begin_ns + ns, above | 1u << part->waker,
					     depth + 1);
			} else {
				note(way_on(next,
					    part->how == WAKER_DISK    ? GRAPH_DISK
					    : part->how == WAKER_TIMER ? GRAPH_TIMER
								       : GRAPH_UNKNOWN,
					    0),
				     ns);
			}
		}
	}
	if (rest_ns && depth > 1)
		note(way_on(way, GRAPH_ABSENT, 0), rest_ns);
}

/* --- Comparison ---------------------------------------------------------------------------------- */

static uint64_t key_of(void *data, const struct graph_node *node)
{
	(void)data;
	return node->kind == GRAPH_WAIT ? node->wait.syscall : node->id;
}

static const struct place *find(uint64_t way)
{
	for (size_t i = 0; i < place_count; i++)
		if (places[i].way == way)
			return &places[i];
	return NULL;
}

static size_t compare(const struct graph *graph, size_t at, uint64_t way)
{
	uint64_t sum_ns = 0;
	size_t count = 0;

	for (size_t i = graph->nodes[at].first; i != SIZE_MAX; i = graph->nodes[i].next) {
		const struct graph_node *node = &graph->nodes[i];
		uint64_t next = way_on(way, node->kind, key_of(NULL, node));
		const struct place *place = find(next);

		if (!place || place->ns != node->ns || place->count != node->count)
			fail_msg("seed %u: node %zu, kind %d", w.seed, i, node->kind);
		sum_ns += node->ns;
		count += 1 + compare(graph, i, next);
	}
	if (count && sum_ns != graph->nodes[at].ns && !graph->nodes[at].is_cycle)
		fail_msg("seed %u: node %zu is not the sum of its parts", w.seed, at);
	return count;
}

static void check_one(uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
	struct graph graph;

	graph_of_threads(w.stage.states, &number, 1,
			 &(struct graph_options){
				 .from_ns = from_ns,
				 .to_ns = to_ns,
				 .depth_max = DEPTH,
				 .key_of = key_of,
			 },
			 &graph);
	place_count = 0;
	walk(0, number, from_ns, to_ns, 1u << number, 1);
	if (compare(&graph, 0, 0) != place_count)
		fail_msg("seed %u: not as many nodes as there should be", w.seed);
	graph_fini(&graph);
}

static void check_all_threads(uint64_t from_ns, uint64_t to_ns)
{
	uint32_t numbers[THREADS];
	struct graph graph;

	for (uint32_t i = 0; i < THREADS; i++)
		numbers[i] = 1 + i;
	graph_of_threads(w.stage.states, numbers, THREADS,
			 &(struct graph_options){
				 .from_ns = from_ns,
				 .to_ns = to_ns,
				 .depth_max = DEPTH,
				 .key_of = key_of,
			 },
			 &graph);
	place_count = 0;
	for (uint32_t number = 1; number <= THREADS; number++) {
		uint64_t lived_ns = 0, begin_ns, way = way_on(0, GRAPH_THREAD, number);

		for (size_t i = 0; i < w.lives[number].count; i++)
			lived_ns += overlap(&w.lives[number].parts[i], from_ns, to_ns, &begin_ns);
		note(way, lived_ns);
		walk(way, number, from_ns, to_ns, 1u << number, 1);
	}
	if (compare(&graph, 0, 0) != place_count)
		fail_msg("seed %u: not as many nodes as there should be", w.seed);
	graph_fini(&graph);
}

/* --- The critical path is made of what is at the bottom of the graph ------------------------------ */

static void add_leaves(const struct graph *graph, size_t at, uint64_t ns[GRAPH_KINDS])
{
	const struct graph_node *node = &graph->nodes[at];
	uint64_t below_ns = 0;

	if (node->kind != GRAPH_CPU)
		for (size_t i = node->first; i != SIZE_MAX; i = graph->nodes[i].next) {
			below_ns += graph->nodes[i].ns;
			add_leaves(graph, i, ns);
		}
	ns[node->kind] += node->ns - below_ns;
}

static void check_path(uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t expected[GRAPH_KINDS] = { 0 }, ns[GRAPH_KINDS] = { 0 }, at_ns = 0;
	struct critical_path path;
	struct graph graph;

	graph_of_threads(w.stage.states, &number, 1,
			 &(struct graph_options){
				 .from_ns = from_ns,
				 .to_ns = to_ns,
				 .depth_max = 64,
			 },
			 &graph);
	critical_path_of(w.stage.states, number, from_ns, to_ns, &path);
	add_leaves(&graph, 0, expected);
	for (size_t i = 0; i < path.count; i++) {
		const struct path_part *part = &path.parts[i];

		if (part->begin_ns >= part->end_ns || (i && part->begin_ns != at_ns))
			fail_msg("seed %u: part %zu of the path", w.seed, i);
		at_ns = part->end_ns;
		ns[part->kind] += part->end_ns - part->begin_ns;
	}
	for (unsigned int kind = 0; kind < GRAPH_KINDS; kind++)
		if (ns[kind] != expected[kind])
			fail_msg("seed %u: kind %u", w.seed, kind);
	critical_path_fini(&path);
	graph_fini(&graph);
}

/* --- Where most is lost --------------------------------------------------------------------------- */

static uint64_t busy_ns(uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t sum_ns = 0, begin_ns;

	for (size_t i = 0; i < w.lives[number].count; i++) {
		const struct part *part = &w.lives[number].parts[i];

		if (part->kind != WAITS || part->syscall == SYS_read)
			sum_ns += overlap(part, from_ns, to_ns, &begin_ns);
	}
	return sum_ns;
}

static uint64_t lost_ns(uint32_t number, size_t at, uint64_t from_ns, uint64_t to_ns)
{
	const struct part *part = &w.lives[number].parts[at], *ended;
	uint64_t begin_ns, ns = overlap(part, from_ns, to_ns, &begin_ns);

	if (part->kind != WAITS)
		return part->kind == WANTS_CPU ? ns : 0;
	if (part->syscall == SYS_read)
		return ns;
	ended = ended_as(number, at);
	if (!ended->waker || part->syscall == SYS_nanosleep)
		return 0;
	return part->syscall == SYS_futex ? ns : busy_ns(ended->waker, begin_ns, begin_ns + ns);
}

/* Nine times what is lost less the rest, of the best stretch there is. */
static int64_t most_lost(uint32_t number, uint64_t from_ns, uint64_t to_ns, const struct lost_stretch *found)
{
	static int64_t weights[STATES_MAX];
	uint64_t begin_ns, found_ns = 0;
	int64_t most = 0;
	size_t count = 0;

	for (size_t i = 0; i < w.lives[number].count; i++) {
		uint64_t ns = overlap(&w.lives[number].parts[i], from_ns, to_ns, &begin_ns), lost;

		if (!ns)
			continue;
		lost = lost_ns(number, i, from_ns, to_ns);
		weights[count++] = 10 * (int64_t)lost - (int64_t)ns;
		if (number == found->thread && begin_ns >= found->begin_ns && begin_ns + ns <= found->end_ns)
			found_ns += lost;
	}
	for (size_t i = 0; i < count; i++) {
		int64_t sum = 0;

		for (size_t j = i; j < count; j++) {
			sum += weights[j];
			most = sum > most ? sum : most;
		}
	}
	if (number == found->thread && found_ns != found->lost_ns)
		fail_msg("seed %u: lost %llu ns, not %llu", w.seed, (unsigned long long)found->lost_ns,
			 (unsigned long long)found_ns);
	return most;
}

static void check_lost(uint64_t from_ns, uint64_t to_ns)
{
	uint32_t numbers[THREADS], count = 0;
	struct lost_stretch found;
	int64_t most = 0, weight;
	bool is_found;

	for (uint32_t number = 1; number <= THREADS; number++)
		if (w.lives[number].count)
			numbers[count++] = number;
	is_found = lost_most_find(w.stage.states, w.stage.files, numbers, count, from_ns, to_ns, &found);
	weight = 10 * (int64_t)found.lost_ns - (int64_t)(found.end_ns - found.begin_ns);
	for (uint32_t i = 0; i < count; i++) {
		int64_t best = most_lost(numbers[i], from_ns, to_ns, &found);

		most = best > most ? best : most;
	}
	if (is_found != (most > 0) || (is_found && weight != most))
		fail_msg("seed %u: %lld, not %lld", w.seed, (long long)weight, (long long)most);
}

TEST(most_is_lost_where_no_other_stretch_of_a_thread_has_lost_more)
{
	for (uint32_t seed = 1; seed <= 500; seed++) {
		w.random = seed;
		play(seed, pick(STEPS_MAX / 4));
		check_lost(0, UINT64_MAX);
		for (uint32_t i = 0; i < 4; i++) {
			uint64_t from_ns = 1000000 + pick(w.now_ns - 1000000);

			check_lost(from_ns, from_ns + 1 + pick(50000));
		}
		end();
	}
}

/* --- All of it ------------------------------------------------------------------------------------ */

TEST(graphs_of_random_lives_are_what_the_algorithm_says)
{
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		w.random = seed;
		play(seed, pick(STEPS_MAX));
		for (uint32_t i = 0; i < 4; i++) {
			uint64_t from_ns = 1000000 + pick(w.now_ns - 1000000);
			uint64_t to_ns = from_ns + 1 + pick(20000);

			if (!w.lives[1 + i].count)
				continue;
			check_one(1 + i, from_ns, to_ns);
			check_path(1 + i, from_ns, to_ns);
		}
		if (w.lives[1].count && w.lives[1].count < 100)
			check_one(1, 0, UINT64_MAX);
		end();
	}
}

TEST(graphs_of_all_threads_are_so_too_where_one_block_of_states_ends_and_the_next_one_begins)
{
	uint64_t begin_ns;
	size_t blocks = 0;

	play(7, 250000);
	begin_ns = states_next_block_ns(w.stage.states, 0);
	for (; begin_ns != UINT64_MAX; begin_ns = states_next_block_ns(w.stage.states, begin_ns)) {
		blocks++;
		for (uint32_t i = 0; i < 5; i++) {
			uint64_t from_ns = begin_ns - pick(20000);

			check_all_threads(from_ns, begin_ns + 1 + pick(20000));
			check_one(1 + i, from_ns, begin_ns + 1 + pick(20000));
		}
	}
	CHECK_THAT(blocks, >=, 2);
	end();
}
