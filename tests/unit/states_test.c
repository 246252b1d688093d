/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of states against lists: random lives of threads, written and read again, must be what a
 * list of intervals for each thread says, however one asks.
 */
#include "test.h"

#include <string.h>

#include "base/memory.h"
#include "session/session.h"
#include "session/threads.h"
#include "state_columns.h"
#include "state_stage.h"
#include "states/state_log.h"
#include "states/state_total.h"
#include "states/states.h"
#include "trace/trace_reader.h"
#include "values.h"

enum {
	THREADS = 60,
	CPUS = 4,
	QUESTIONS = 500,
	EARLY_MAX = 4000,
	EARLY_QUESTIONS = 5,
	COLUMN_QUESTIONS = 4,
	LATE_NS = 50,
	BLOCK_RECORDS = 1 << 15,
	LATE_STACK = 0x77
};

struct list {
	struct state *states;
	size_t count, capacity;
	bool is_alive;
};

static struct {
	uint64_t seed;
	uint64_t random, now_ns;
	unsigned int gap_one_in;
	struct state_stage stage;
	struct list lists[THREADS];
	struct gap {
		uint64_t begin_ns, end_ns;
	} gaps[1000];
	size_t gap_count;
	uint64_t switched_ns[CPUS];
	struct list owners[CPUS]; /* value.thread, value.tid; kind RUNNING: known */
	uint64_t records;
	struct states *growing; /* a reader of the unfinished file; NULL: nobody reads it */
	struct early {          /* what it said before the end */
		uint32_t thread;
		uint64_t from_ns, to_ns, ns[SHARES];
	} early[EARLY_MAX];
	size_t early_count;
} w;

static uint64_t pick(uint64_t below)
{
	w.random = w.random * 6364136223846793005ull + 1442695040888963407ull;
	return (w.random >> 33) % below;
}

static struct state *last_of(struct list *list)
{
	return &list->states[list->count - 1];
}

static void add(struct list *list, const struct state *state)
{
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 64;
		list->states = xrealloc(list->states, list->capacity, sizeof(*list->states));
	}
	list->states[list->count++] = *state;
}

/* What the thread did before, ends; state: NULL, it ends with it. */
static void change(struct list *list, const struct state *state)
{
	if (list->is_alive)
		last_of(list)->end_ns = w.now_ns;
	list->is_alive = state;
	if (state)
		add(list, state);
}

static void own(uint32_t cpu, uint32_t thread, uint32_t tid, bool is_known)
{
	struct state state = { .begin_ns = w.now_ns, .kind = is_known ? STATE_RUNNING : STATE_UNKNOWN };

	state.value.thread = thread;
	state.value.tid = tid;
	change(&w.owners[cpu], &state);
}

/* Returns the CPU that the thread had, or CPUS. */
static uint32_t leave_cpu(uint32_t number)
{
	uint32_t had = CPUS;

	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		if (w.owners[cpu].is_alive && last_of(&w.owners[cpu])->value.thread == number) {
			own(cpu, 0, 0, false);
			had = cpu;
		}
	return had;
}

static void hand_out_switch(uint32_t cpu, uint32_t number, uint32_t next, uint32_t value, uint64_t object)
{
	struct ev_sched_switch e = {
		.header = { .subsys = EV_SCHED_SWITCH >> 16,
			    .event = EV_SCHED_SWITCH & 0xffff,
			    .thread = number,
			    .time_ns = w.now_ns },
		.next = next,
		.cpu = cpu,
		.value = value,
		.object = object,
		.state = SWITCH_SLEEPING,
	};

	w.switched_ns[cpu] = w.now_ns;
	session_hand_out(w.stage.session, &e.header);
}

static void emit(uint32_t number, struct state *state, struct state_change *recorded)
{
	recorded->thread = threads_get(w.stage.threads, number);
	recorded->time_ns = state->begin_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, recorded);
	change(&w.lists[number - 1], state);
	w.records++;
}

static void block(uint32_t number)
{
	static const uint16_t calls[] = { 0, 1, 202, 35, 61, 7 };
	struct ev_sched_switch e = {
		.state = SWITCH_SLEEPING,
		.flags = pick(3) ? SWITCH_HAS_STACK : 0,
		.stack = pick(20) * 0x123456789abcdull,
		.object = pick(10),
		.syscall = calls[pick(6)],
		.operation = pick(2) ? 0x80 : 0x189,
	};
	struct state_change recorded = { .phase = PHASE_BLOCKED, .out = &e };
	struct wait_facts facts = wait_facts_of(&e);
	struct state state = { .kind = STATE_BLOCKED,
			       .value = {
				       .object = e.object,
				       .syscall = e.syscall,
				       .operation = e.operation,
				       .why = wait_cause_of(&facts, NULL),
				       .how = SWITCH_SLEEPING,
				       .stack = e.flags & SWITCH_HAS_STACK ? e.stack : 0,
			       } };
	uint32_t cpu;

	cpu = leave_cpu(number);
	emit(number, &state, &recorded);
	/* The next one is not traced; the switch after this one will say who it was. */
	if (cpu < CPUS && pick(2)) {
		hand_out_switch(cpu, number, 0, 0, 0);
		own(cpu, 0, 0, false);
		last_of(&w.owners[cpu])->value.object = 1;
	}
}

static struct ev_sched_wake random_wake(void)
{
	return (struct ev_sched_wake){
		.waker = pick(3) ? 1 + pick(THREADS) : 0,
		.tid = 1000 + pick(5),
		.context = WAKE_THREAD,
		.syscall = 202,
		.operation = 0x81,
		.object = pick(10),
		.flags = WAKE_HAS_STACK,
		.stack = pick(30) * 0xfedcba987ull,
	};
}

static struct state_value value_of(const struct ev_sched_wake *e)
{
	return (struct state_value){
		.object = e->object,
		.stack = e->stack,
		.thread = e->waker,
		.tid = e->waker ? 0 : e->tid,
		.syscall = e->syscall,
		.operation = e->operation,
		.why = READY_WOKEN,
		.how = e->waker ? WAKER_THREAD : WAKER_PROCESS,
	};
}

static void wake(uint32_t number)
{
	struct ev_sched_wake e = random_wake();
	struct state_change recorded = { .phase = PHASE_RUNNABLE, .wake = &e };
	struct state state = { .kind = STATE_RUNNABLE, .value = value_of(&e) };

	/* Sometimes a stack that the wait lacked comes with its end. */
	if (!last_of(&w.lists[number - 1])->value.stack && pick(2)) {
		e.flags |= WAKE_HAS_WAIT_STACK;
		e.wait_stack = LATE_STACK;
	}
	last_of(&w.lists[number - 1])->ended = state.value;
	if (e.flags & WAKE_HAS_WAIT_STACK) {
		last_of(&w.lists[number - 1])->value.stack = LATE_STACK;
		last_of(&w.lists[number - 1])->value.why = CAUSE_BARRIER;
	}
	emit(number, &state, &recorded);
}

static void preempt(uint32_t number)
{
	struct ev_sched_switch e = { .state = SWITCH_RUNNABLE, .flags = pick(5) ? 0 : SWITCH_THROTTLED };
	struct state_change recorded = { .phase = PHASE_RUNNABLE, .out = &e };
	struct state state = { .kind = STATE_RUNNABLE,
			       .value = {
				       .why = e.flags ? READY_THROTTLED : READY_PREEMPTED,
			       } };

	leave_cpu(number);
	emit(number, &state, &recorded);
}

static void run(uint32_t number, bool is_spinning)
{
	struct state_change recorded = {
		.phase = PHASE_RUNNING,
		.cpu = pick(CPUS),
		.is_spinning = is_spinning,
	};
	struct state state = {
		.kind = is_spinning ? STATE_SPINNING : STATE_RUNNING,
		.cpu = recorded.cpu,
	};
	struct state *had = w.owners[recorded.cpu].is_alive ? last_of(&w.owners[recorded.cpu]) : NULL;
	uint32_t tid = pick(2) ? 0 : 5000 + pick(3), other = had ? had->value.thread : 0;

	if (other)
		preempt(other);
	else if (had && had->kind == STATE_UNKNOWN && had->value.object) {
		had->kind = STATE_RUNNING;
		had->value.tid = tid;
	}
	leave_cpu(number);
	own(recorded.cpu, number, 0, true);
	emit(number, &state, &recorded);
	if (!other)
		hand_out_switch(recorded.cpu, 0, number, tid, 0);
}

/* The switch was recorded before the wake-up that led to it. */
static void run_and_wake(uint32_t number)
{
	struct ev_sched_wake e = random_wake();

	last_of(&w.lists[number - 1])->ended = value_of(&e);
	run(number, false);
	w.now_ns += pick(LATE_NS);
	w.stage.listener->on_late_wake(w.stage.listener->data, threads_get(w.stage.threads, number), &e);
	w.records++;
}

static void bear(uint32_t number)
{
	struct state_change recorded = { .phase = PHASE_RUNNABLE };
	struct state state = { .kind = STATE_RUNNABLE, .value = { .why = READY_BORN } };

	emit(number, &state, &recorded);
}

static void kill_thread(uint32_t number)
{
	struct state_change recorded = {
		.thread = threads_get(w.stage.threads, number),
		.time_ns = w.now_ns,
		.phase = PHASE_DEAD,
	};

	leave_cpu(number);
	w.stage.listener->on_change(w.stage.listener->data, &recorded);
	change(&w.lists[number - 1], NULL);
	w.records++;
}

/* Between two threads that are not traced. */
static void switch_others(void)
{
	uint32_t cpu = pick(CPUS), from = 5000 + pick(3), to = pick(3) ? 5000 + pick(3) : 0;
	struct list *list = &w.owners[cpu];
	struct state *last = list->is_alive ? last_of(list) : NULL;

	if (last && last->value.thread)
		return; /* a traced one has it */
	hand_out_switch(cpu, 0, 0, from, to);
	if (last && last->kind == STATE_UNKNOWN && last->value.object) {
		last->kind = STATE_RUNNING;
		last->value.tid = from;
	}
	if (!last || last->kind == STATE_UNKNOWN || last->value.tid != to)
		own(cpu, 0, to, true);
}

static void lose_records(void)
{
	uint32_t cpu = pick(CPUS);
	struct ev_collect_gap e = {
		.header = { .subsys = EV_COLLECT_GAP >> 16, .event = EV_COLLECT_GAP & 0xffff, .time_ns = w.now_ns },
		.lost = 1,
		.cpu = cpu,
	};

	if (w.gap_count == 1000 || !w.switched_ns[cpu])
		return;
	session_hand_out(w.stage.session, &e.header);
	w.gaps[w.gap_count++] = (struct gap){ w.switched_ns[cpu], w.now_ns };
}

static void step(void)
{
	uint32_t number = 1 + (pick(3) ? pick(6) : pick(THREADS));
	struct list *list = &w.lists[number - 1];

	/* Some moments are shared, some lie hours apart. */
	if (pick(4))
		w.now_ns += pick(1ull << (1 + pick(20)));
	if (!pick(20000))
		w.now_ns += pick(1000) * 10000000000ull;
	if (!pick(50))
		switch_others();
	if (w.gap_one_in && !pick(w.gap_one_in))
		lose_records();
	if (!list->is_alive) {
		bear(number);
		return;
	}
	switch (last_of(list)->kind) {
	case STATE_BLOCKED:
		if (pick(50))
			wake(number);
		else
			run_and_wake(number);
		break;
	case STATE_RUNNABLE:
		run(number, !pick(10));
		break;
	default:
		if (!pick(200))
			kill_thread(number);
		else if (!pick(3))
			preempt(number);
		else
			block(number);
	}
}

/* The late stacks say more. */
static enum wait_cause cause_of(void *data, const struct thread *thread, uint64_t time_ns, uint64_t stack,
				const struct wait_facts *facts, enum wait_cause cause)
{
	(void)data, (void)thread, (void)time_ns, (void)facts;
	return stack == LATE_STACK ? CAUSE_BARRIER : cause;
}

static void set_up(uint64_t seed, unsigned int gap_one_in)
{
	memset(&w, 0, sizeof(w));
	w.seed = seed;
	w.random = seed * 0x9e3779b97f4a7c15ull + 1;
	w.gap_one_in = gap_one_in;
	w.now_ns = 1000000000ull * (1 + pick(1000000));
	state_stage_open_naming(&w.stage, cause_of);
	state_log_subscribe(w.stage.log, w.stage.session);
}

/* As states.h says it: behind the beginning of a gap that touches a state nothing is known about it. */
static void cut_at_gaps(struct list *list)
{
	struct list cut = { 0 };

	for (size_t i = 0; i < list->count; i++) {
		struct state state = list->states[i];
		uint64_t unknown_ns = state.end_ns;

		for (size_t g = 0; g < w.gap_count; g++)
			if (w.gaps[g].end_ns > state.begin_ns && w.gaps[g].begin_ns < unknown_ns)
				unknown_ns = w.gaps[g].begin_ns > state.begin_ns ? w.gaps[g].begin_ns : state.begin_ns;
		if (unknown_ns == state.end_ns) {
			add(&cut, &state);
			continue;
		}
		state.end_ns = unknown_ns;
		state.ended = (struct state_value){ 0 };
		if (state.end_ns > state.begin_ns)
			add(&cut, &state);
		add(&cut, &(struct state){
				  .begin_ns = unknown_ns,
				  .end_ns = list->states[i].end_ns,
			  });
	}
	free(list->states);
	*list = cut;
}

static void finish(void)
{
	w.now_ns += pick(1000);
	state_stage_finish(&w.stage, w.now_ns);
	for (uint32_t i = 0; i < THREADS; i++) {
		if (w.lists[i].is_alive)
			last_of(&w.lists[i])->end_ns = w.now_ns;
		cut_at_gaps(&w.lists[i]);
	}
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		if (w.owners[cpu].is_alive)
			last_of(&w.owners[cpu])->end_ns = w.now_ns;
		cut_at_gaps(&w.owners[cpu]);
	}
}

static void tear_down(void)
{
	state_stage_close(&w.stage);
	for (uint32_t i = 0; i < THREADS; i++)
		free(w.lists[i].states);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		free(w.owners[cpu].states);
}

#define CHECK_SEED(condition)                                                              \
	do {                                                                               \
		if (!(condition))                                                          \
			fail_msg("seed %llu: %s", (unsigned long long)w.seed, #condition); \
	} while (0)

static bool is_same(const struct state *a, const struct state *b)
{
	if (a->kind != b->kind || a->begin_ns != b->begin_ns || a->end_ns != b->end_ns)
		return false;
	if (a->kind == STATE_RUNNING || a->kind == STATE_SPINNING)
		return a->cpu == b->cpu;
	if (a->kind == STATE_UNKNOWN)
		return true;
	return !memcmp(&a->value, &b->value, sizeof(a->value)) &&
	       (a->kind != STATE_BLOCKED || !memcmp(&a->ended, &b->ended, sizeof(a->ended)));
}

/* A question about a stretch of time, short or long. */
static void pick_stretch(uint64_t *from_ns, uint64_t *to_ns)
{
	uint64_t begin_ns = states_begin_ns(w.stage.states), all_ns = states_end_ns(w.stage.states) - begin_ns;

	*from_ns = begin_ns + ((uint64_t)pick(1u << 31) << 31 | pick(1u << 31)) % all_ns;
	*to_ns = *from_ns + 1 + pick(1ull << (1 + pick(31)));
	if (!pick(10))
		*to_ns = *from_ns + all_ns / (1 + pick(5));
}

static void check_walk(uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
	const struct list *list = &w.lists[number - 1];
	struct state_walk walk;
	struct state state;

	states_walk(w.stage.states, number, from_ns, to_ns, &walk);
	for (size_t i = 0; i < list->count; i++) {
		const struct state *expected = &list->states[i];

		if (expected->end_ns <= from_ns || expected->begin_ns >= to_ns ||
		    expected->begin_ns == expected->end_ns)
			continue;
		CHECK_SEED(state_walk_next(&walk, &state));
		CHECK_SEED(is_same(&state, expected));
	}
	CHECK_SEED(!state_walk_next(&walk, &state));
}

static void check_shares(uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
	const struct list *list = &w.lists[number - 1];
	uint64_t ns[SHARES] = { 0 }, expected[SHARES] = { 0 };

	states_add_shares(w.stage.states, number, from_ns, to_ns, ns);
	for (size_t i = 0; i < list->count; i++) {
		const struct state *state = &list->states[i];
		uint64_t begin_ns = state->begin_ns > from_ns ? state->begin_ns : from_ns;
		uint64_t end_ns = state->end_ns < to_ns ? state->end_ns : to_ns;

		if (begin_ns < end_ns)
			expected[state_share(state->kind, state->value.why)] += end_ns - begin_ns;
	}
	CHECK_SEED(!memcmp(ns, expected, sizeof(ns)));
}

/* Widens [*begin_ns, *end_ns) by what it lived in the stretch; is_broken: it was born again. */
static void add_life(const struct list *list, uint64_t from_ns, uint64_t to_ns, uint64_t *begin_ns, uint64_t *end_ns,
		     bool *is_broken)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < list->count; i++) {
		const struct state *state = &list->states[i];
		uint64_t first_ns = state->begin_ns > from_ns ? state->begin_ns : from_ns;
		uint64_t until_ns = state->end_ns < to_ns ? state->end_ns : to_ns;

		if (first_ns >= until_ns)
			continue;
		*is_broken |= last_ns && first_ns != last_ns;
		last_ns = until_ns;
		if (first_ns < *begin_ns)
			*begin_ns = first_ns;
		if (until_ns > *end_ns)
			*end_ns = until_ns;
	}
}

/* Of threads that are born once, as those of programs are. */
static void check_lives(uint32_t number, uint64_t from_ns, uint64_t to_ns)
{
	uint32_t threads[] = { number, number % THREADS + 1 };
	uint64_t begin_ns = to_ns, end_ns = from_ns, first_ns = from_ns, last_ns = to_ns;
	bool is_broken = false;

	for (unsigned int i = 0; i < 2; i++)
		add_life(&w.lists[threads[i] - 1], from_ns, to_ns, &begin_ns, &end_ns, &is_broken);
	if (is_broken)
		return;
	CHECK_SEED(states_lives(w.stage.states, threads, 2, &first_ns, &last_ns) == (begin_ns < end_ns));
	CHECK_SEED(first_ns == (begin_ns < end_ns ? begin_ns : from_ns));
	CHECK_SEED(last_ns == (begin_ns < end_ns ? end_ns : to_ns));
}

/* Who was unknown until the next switch may stay so in blocks that were written before that. */
static bool may_lack(const struct state *expected)
{
	return expected->value.object && (w.records > BLOCK_RECORDS || w.growing);
}

static void check_cpu(uint32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	const struct list *list = &w.owners[cpu];
	struct cpu_state piece;
	struct cpu_walk walk;
	bool has_piece;

	states_walk_cpu(w.stage.states, cpu, from_ns, to_ns, &walk);
	has_piece = cpu_walk_next(&walk, &piece);
	for (size_t i = 0; i < list->count; i++) {
		const struct state *expected = &list->states[i];
		uint64_t at_ns = expected->begin_ns > from_ns ? expected->begin_ns : from_ns;
		uint64_t end_ns = expected->end_ns < to_ns ? expected->end_ns : to_ns;

		if (expected->kind == STATE_UNKNOWN)
			continue;
		while (at_ns < end_ns) {
			if (may_lack(expected) && (!has_piece || piece.begin_ns >= end_ns))
				break;
			CHECK_SEED(has_piece);
			CHECK_SEED(piece.begin_ns == at_ns || (may_lack(expected) && piece.begin_ns > at_ns));
			CHECK_SEED(piece.end_ns <= end_ns);
			CHECK_SEED(piece.thread == expected->value.thread);
			CHECK_SEED(piece.tid == expected->value.tid);
			at_ns = piece.end_ns;
			has_piece = cpu_walk_next(&walk, &piece);
		}
	}
	CHECK_SEED(!has_piece);
}

static void check_columns(uint64_t time_ns)
{
	uint32_t numbers[THREADS], count = 0;

	for (uint32_t number = 1; number <= THREADS; number++)
		if (pick(2))
			numbers[count++] = number;
	CHECK_SEED(thread_columns_agree(w.stage.states, numbers, count, time_ns, 8 + pick(36)));
	CHECK_SEED(cpu_columns_agree(w.stage.states, pick(CPUS), time_ns, 8 + pick(36)));
}

static void add_total(void *data, uint32_t number, const struct state_total *total)
{
	struct state_total *totals = data;
	struct state_total *to = &totals[number - 1];

	if (!to->has_begun || total->begin_ns < to->begin_ns)
		to->begin_ns = total->begin_ns;
	if (total->until_ns > to->until_ns)
		to->until_ns = total->until_ns;
	to->has_begun = true;
	for (unsigned int share = 0; share < SHARES; share++)
		to->ns[share] += total->ns[share];
}

/* Where nothing was lost. */
static void check_totals(void)
{
	static struct state_total totals[THREADS];

	memset(totals, 0, sizeof(totals));
	states_each_total(w.stage.states, add_total, totals);
	for (uint32_t i = 0; i < THREADS; i++) {
		uint64_t ns[SHARES] = { 0 };

		CHECK_SEED(totals[i].has_begun == (w.lists[i].count != 0));
		if (!w.lists[i].count)
			continue;
		for (size_t at = 0; at < w.lists[i].count; at++) {
			const struct state *state = &w.lists[i].states[at];

			ns[state_share(state->kind, state->value.why)] += state->end_ns - state->begin_ns;
		}
		CHECK_SEED(!memcmp(ns, totals[i].ns, sizeof(ns)));
		CHECK_SEED(totals[i].begin_ns == w.lists[i].states[0].begin_ns);
		CHECK_SEED(totals[i].until_ns <= last_of(&w.lists[i])->end_ns);
	}
}

static void check_all(void)
{
	uint64_t from_ns, to_ns;

	for (uint32_t i = 0; i < QUESTIONS; i++) {
		uint32_t number = 1 + pick(THREADS);

		pick_stretch(&from_ns, &to_ns);
		check_walk(number, from_ns, to_ns);
		check_shares(number, from_ns, to_ns);
		check_lives(number, from_ns, to_ns);
		check_cpu(pick(CPUS), from_ns, to_ns);
	}
	for (uint32_t i = 0; i < COLUMN_QUESTIONS; i++) {
		pick_stretch(&from_ns, &to_ns);
		check_columns(from_ns);
	}
	for (uint32_t number = 1; number <= THREADS; number++)
		check_walk(number, 0, UINT64_MAX);
	CHECK_SEED(states_have_gaps(w.stage.states) == (w.gap_count != 0));
	if (!w.gap_count)
		check_totals();
	CHECK_SEED(!states_damaged_count(w.stage.states));
}

static void play(uint64_t seed, unsigned int steps, unsigned int gap_one_in)
{
	set_up(seed, gap_one_in);
	for (unsigned int i = 0; i < steps; i++)
		step();
	finish();
	if (w.records)
		check_all();
	tear_down();
}

/* --- While it is written --------------------------------------------------------------------- */

static void ask_early(void)
{
	uint64_t begin_ns = states_begin_ns(w.growing), all_ns = states_end_ns(w.growing) - begin_ns;

	for (int i = 0; i < EARLY_QUESTIONS && all_ns && w.early_count < EARLY_MAX; i++) {
		struct early *early = &w.early[w.early_count++];

		early->thread = 1 + pick(THREADS);
		early->from_ns = begin_ns + ((uint64_t)pick(1u << 31) << 31 | pick(1u << 31)) % all_ns;
		early->to_ns = early->from_ns + 1 + pick(1ull << (1 + pick(31)));
		if (!pick(4))
			early->to_ns = early->from_ns + all_ns / (1 + pick(5));
		if (early->to_ns > begin_ns + all_ns)
			early->to_ns = begin_ns + all_ns;
		states_add_shares(w.growing, early->thread, early->from_ns, early->to_ns, early->ns);
	}
}

static void flush(void)
{
	state_log_flush(w.stage.log);
	if (!w.growing)
		CHECK_SEED(!states_open_growing(w.stage.path, &w.growing));
	else
		CHECK_SEED(!states_grow(w.growing));
	ask_early();
}

/* As one: a wait's cause may become known late. */
static void join_causes(uint64_t ns[SHARES])
{
	for (unsigned int share = SHARE_BLOCKED + 1; share < SHARES; share++) {
		ns[SHARE_BLOCKED] += ns[share];
		ns[share] = 0;
	}
}

/* What was said early holds to the end. */
static void check_early(void)
{
	for (size_t i = 0; i < w.early_count; i++) {
		uint64_t ns[SHARES] = { 0 };

		states_add_shares(w.stage.states, w.early[i].thread, w.early[i].from_ns, w.early[i].to_ns, ns);
		join_causes(ns);
		join_causes(w.early[i].ns);
		CHECK_SEED(!memcmp(ns, w.early[i].ns, sizeof(ns)));
	}
}

static void play_growing(uint64_t seed, unsigned int steps, unsigned int gap_one_in, unsigned int flush_one_in)
{
	struct states *whole;

	set_up(seed, gap_one_in);
	for (unsigned int i = 0; i < steps; i++) {
		step();
		if (w.records && !pick(flush_one_in))
			flush();
	}
	flush();
	finish();
	CHECK_SEED(!states_grow(w.growing));
	whole = w.stage.states;
	check_all();
	if (!gap_one_in)
		check_early();
	w.stage.states = w.growing;
	check_all();
	w.stage.states = whole;
	states_close(w.growing);
	tear_down();
}

TEST(a_history_that_is_read_while_it_is_written_is_what_happened)
{
	for (uint64_t seed = 4000; seed < 4100; seed++)
		play_growing(seed, 20 + seed % 500, 0, 1 + seed % 50);
	for (uint64_t seed = 5000; seed < 5003; seed++)
		play_growing(seed, 100000, 0, 500);
	for (uint64_t seed = 6000; seed < 6030; seed++)
		play_growing(seed, 3000, 200, 100);
}

TEST(short_histories_are_what_happened)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		play(seed, 1 + seed * 7, 0);
}

TEST(histories_of_many_blocks_are_what_happened)
{
	for (uint64_t seed = 1000; seed < 1003; seed++)
		play(seed, 300000, 0);
}

TEST(what_was_lost_is_no_state)
{
	for (uint64_t seed = 2000; seed < 2060; seed++)
		play(seed, 3000, 200);
	for (uint64_t seed = 3000; seed < 3002; seed++)
		play(seed, 300000, 10000);
}
