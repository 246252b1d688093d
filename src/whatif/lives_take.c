/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Of the states of each thread, its steps. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "base/table.h"
#include "graph/wait_end.h"
#include "graph/wait_walk.h"
#include "session/threads.h"
#include "states/states.h"
#include "whatif/lives_internal.h"

/* MOMENT_NS: about a turn of the kernel's. CPUs beyond CPUS_APART are not distinguished. */
enum { MOMENT_NS = 4000000, CPUS_APART = 256, GAPS_A_WAIT = 8 };

struct taker {
	struct lives_make *make;
	struct states *states;
	uint32_t life, thread;
	uint32_t cpu; /* where it ran last */
	bool has_run;
	struct state ready; /* it waits for the CPU that it gets next */
	bool is_ready;
	bool got_signal, saw_exit; /* a signal, or the end of its process, ended its last wait */
	struct gap {
		uint64_t begin_ns, end_ns;
	} * gaps; /* in which a CPU was with none of the threads in the replay */
	size_t gap_count, gap_capacity;
};

static int add(struct taker *t, const struct step *step)
{
	struct lives *lives = t->make->lives;

	if (lives->step_count == STEPS_MAX)
		return -E2BIG;
	ARRAY_GROW(lives->steps, lives->step_count, lives->step_capacity, 1024);
	lives->steps[lives->step_count] = *step;
	lives->steps[lives->step_count++].life = t->life;
	return 0;
}

static int add_step(struct taker *t, enum step_kind kind, uint64_t begin_ns, uint64_t end_ns)
{
	return add(t, &(struct step){
			      .begin_ns = begin_ns,
			      .end_ns = end_ns,
			      .kind = kind,
			      .end = GRAPH_UNKNOWN,
			      .other = STEP_NONE,
			      .wait = STEP_NONE,
		      });
}

/* The step that was added last waits until a thread's life has come to that time. */
static void add_wake(struct taker *t, uint32_t waker, uint64_t time_ns)
{
	struct lives_make *make = t->make;

	ARRAY_GROW(make->wakes, make->wake_count, make->wake_capacity, 1024);
	make->wakes[make->wake_count++] = (struct wake){ time_ns, waker, make->lives->step_count - 1 };
}

static uint32_t name_of(struct taker *t, const struct state *state)
{
	struct graph_wait wait = graph_wait_of(t->thread, state);
	struct lives *lives = t->make->lives;
	uint64_t key = hash_u64(wait.object ^ hash_u64(wait.stack));
	uintptr_t at;

	key = hash_u64(key ^
		       ((uint64_t)wait.syscall << 32 | (uint32_t)wait.operation << 16 | wait.cause << 8 | wait.state));
	key = hash_u64(key ^ wait.thread);
	at = (uintptr_t)table_find(t->make->by_wait, key);
	if (!at) {
		ARRAY_GROW(lives->waits, lives->wait_count, lives->wait_capacity, 64);
		lives->waits[lives->wait_count++] = (struct lives_wait){ .wait = wait };
		at = lives->wait_count;
		table_put(t->make->by_wait, key, (void *)at);
	}
	lives->waits[at - 1].ns += state->end_ns - state->begin_ns;
	lives->waits[at - 1].count++;
	return at - 1;
}

/* A life plus 1; 0: it has none, or is the thread itself. */
static uintptr_t other_life(const struct taker *t, uint32_t thread)
{
	return thread == t->thread ? 0 : (uintptr_t)table_find(t->make->by_thread, thread);
}

static int take_wait(struct taker *t, const struct state *state)
{
	enum graph_kind end = wait_end_kind(&state->ended);
	uintptr_t waker = end == GRAPH_THREAD ? other_life(t, state->ended.thread) : 0;
	struct step step = {
		.begin_ns = state->begin_ns,
		.end_ns = state->end_ns,
		.other = STEP_NONE,
		.wait = name_of(t, state),
		.kind = waker ? STEP_WAIT : STEP_DELAY,
		.end = end,
	};
	int err = add(t, &step);

	if (!err && waker)
		add_wake(t, waker - 1, state->end_ns);
	return err;
}

static void add_gap(struct taker *t, uint64_t begin_ns, uint64_t end_ns)
{
	if (begin_ns >= end_ns)
		return;
	ARRAY_GROW(t->gaps, t->gap_count, t->gap_capacity, 64);
	t->gaps[t->gap_count++] = (struct gap){ begin_ns, end_ns };
}

/* When in the stretch a CPU was with none of the threads in the replay; counts_idle: or with nobody. */
static void add_gaps(struct taker *t, const struct state *state, uint32_t cpu, bool counts_idle)
{
	uint64_t at_ns = state->begin_ns;
	struct cpu_state piece;
	struct cpu_walk walk;

	states_walk_cpu(t->states, cpu, state->begin_ns, state->end_ns, &walk);
	while (cpu_walk_next(&walk, &piece)) {
		bool is_ours = piece.thread && other_life(t, piece.thread);
		bool is_idle = !piece.thread && !piece.tid;

		if (counts_idle)
			add_gap(t, at_ns, piece.begin_ns);
		if (!is_ours && (!is_idle || counts_idle))
			add_gap(t, piece.begin_ns, piece.end_ns);
		at_ns = piece.end_ns;
	}
	if (counts_idle)
		add_gap(t, at_ns, state->end_ns);
}

static int by_begin(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Gaps of any CPU that overlap or touch become one. Adds up how long they are. */
static uint64_t join_gaps(struct taker *t)
{
	size_t count = 0;
	uint64_t ns = 0;

	if (t->gap_count)
		qsort(t->gaps, t->gap_count, sizeof(*t->gaps), by_begin);
	for (size_t i = 0; i < t->gap_count; i++) {
		struct gap *last = count ? &t->gaps[count - 1] : NULL, *gap = &t->gaps[i];

		if (!last || gap->begin_ns > last->end_ns)
			t->gaps[count++] = *gap;
		else if (gap->end_ns > last->end_ns)
			last->end_ns = gap->end_ns;
	}
	t->gap_count = count;
	for (size_t i = 0; i < count; i++)
		ns += t->gaps[i].end_ns - t->gaps[i].begin_ns;
	return ns;
}

static void find_gaps_anywhere(struct taker *t, const struct state *state, bool counts_idle)
{
	for (uint32_t cpu = 0; cpu < CPUS_APART; cpu++)
		if (t->make->cpus[cpu / 64] >> cpu % 64 & 1)
			add_gaps(t, state, cpu, counts_idle);
	join_gaps(t);
}

/*
 * When in the time in which it could run that was not for lack of CPUs that threads in the replay had. The
 * kernel leaves a thread that was woken behind another one for a moment though another CPU is idle; but when
 * it is for longer, the thread may not run there.
 */
static void find_gaps(struct taker *t, const struct state *state, uint32_t own_cpu)
{
	uint64_t all_ns = state->end_ns - state->begin_ns;

	add_gaps(t, state, own_cpu, true);
	if (join_gaps(t) != all_ns)
		find_gaps_anywhere(t, state, all_ns < MOMENT_NS);
}

/* Between the gaps it waits for a CPU that threads in the replay have. Behind the last one its work does that. */
static int add_gap_steps(struct taker *t, enum step_kind kind)
{
	uint64_t at_ns = t->ready.begin_ns;
	int err = 0;

	for (size_t i = 0; i < t->gap_count && !err; i++) {
		const struct gap *gap = &t->gaps[i];
		bool is_last = i == GAPS_A_WAIT - 1;
		uint64_t ns = 0;

		/* Of more gaps the rest is one. */
		for (size_t k = i; k < (is_last ? t->gap_count : i + 1); k++)
			ns += t->gaps[k].end_ns - t->gaps[k].begin_ns;
		if (gap->begin_ns > at_ns)
			err = add_step(t, STEP_QUEUE, at_ns, gap->begin_ns);
		if (!err)
			err = add_step(t, kind, gap->begin_ns, gap->begin_ns + ns);
		at_ns = gap->end_ns;
		if (is_last)
			break;
	}
	return err;
}

/* next: what it does then; NULL: no more. */
static int take_ready(struct taker *t, const struct state *next)
{
	const struct state *state = &t->ready;
	bool gets_cpu = next && (next->kind == STATE_RUNNING || next->kind == STATE_SPINNING);
	bool has_left = state->value.why == READY_PREEMPTED && t->has_run;

	if (!t->is_ready)
		return 0;
	t->is_ready = false;
	if (state->value.why == READY_THROTTLED)
		return add_step(t, STEP_SLOWED, state->begin_ns, state->end_ns);
	t->gap_count = 0;
	if (next && next->kind == STATE_BLOCKED) {
		/* It has run: behind a thread that the kernel hides, no record says when it got the CPU. */
		find_gaps_anywhere(t, state, true);
		return add_gap_steps(t, STEP_WORK);
	}
	if (!has_left && !gets_cpu)
		return 0;
	find_gaps(t, state, has_left ? t->cpu : next->cpu);
	return add_gap_steps(t, has_left ? STEP_SLOWED : STEP_LATE);
}

static int take_state(struct taker *t, const struct state *state)
{
	int err = take_ready(t, state);

	if (err)
		return err;
	switch (state->kind) {
	case STATE_RUNNING:
	case STATE_SPINNING:
		t->cpu = state->cpu;
		t->has_run = true;
		return add_step(t, STEP_WORK, state->begin_ns, state->end_ns);
	case STATE_RUNNABLE:
		t->ready = *state;
		t->is_ready = true;
		return 0;
	case STATE_BLOCKED:
		t->got_signal = state->ended.why == READY_WOKEN && state->ended.how == WAKER_SIGNAL;
		t->saw_exit = state->ended.why == READY_WOKEN && state->ended.syscall == SYS_exit_group;
		return take_wait(t, state);
	case STATE_UNKNOWN:
		break;
	}
	return add_step(t, STEP_DELAY, state->begin_ns, state->end_ns);
}

/* It begins when its parent had come so far, or so long after all began. */
static int take_birth(struct taker *t, struct threads *threads, const struct state *first)
{
	const struct thread *thread = threads_get(threads, t->thread);
	uintptr_t parent = other_life(t, thread->parent);
	bool is_born = first->kind == STATE_RUNNABLE && first->value.why == READY_BORN;
	struct lives *lives = t->make->lives;
	int err;

	if (!lives->begin_ns || first->begin_ns < lives->begin_ns)
		lives->begin_ns = first->begin_ns;
	if (!is_born || !parent)
		/* From the beginning of all, which is not known yet. */
		return add_step(t, STEP_LATE, 0, first->begin_ns);
	err = add_step(t, STEP_WAIT, first->begin_ns, first->begin_ns);
	if (!err)
		add_wake(t, parent - 1, first->begin_ns);
	return err;
}

/* What nothing comes after had not ended: nobody knows how long it would have been. */
static void leave_out_last(struct lives_make *make, size_t first)
{
	struct lives *lives = make->lives;

	while (lives->step_count > first && lives->steps[lives->step_count - 1].kind != STEP_WORK) {
		lives->step_count--;
		if (make->wake_count && make->wakes[make->wake_count - 1].wait == lives->step_count)
			make->wake_count--;
	}
}

/* last_ns: when the last of its states ended. */
static void note_end(const struct taker *t, struct threads *threads, struct life *life, uint64_t last_ns)
{
	const struct thread *thread = threads_get(threads, t->thread);

	/* Where another thread ends the process, the first one ends with it, and nobody kills it. */
	life->has_ended = life->first < life->end && last_ns < states_known_until_ns(t->states) && !t->got_signal &&
			  (!t->saw_exit || thread->tid == thread->pid);
	life->is_awaited = life->has_ended && thread->tid == thread->pid;
}

static int take_life(struct taker *t, struct threads *threads)
{
	struct life *life = &t->make->lives->lives[t->life];
	struct wait_walk walk;
	uint64_t last_ns = 0;
	struct state state;
	int err = 0;

	life->first = t->make->lives->step_count;
	wait_walk_begin(t->states, life->thread, 0, UINT64_MAX, &walk);
	for (bool is_first = true; !err && wait_walk_next(&walk, &state); is_first = false) {
		if (is_first)
			err = take_birth(t, threads, &state);
		if (!err)
			err = take_state(t, &state);
		last_ns = state.end_ns;
	}
	if (!err)
		err = take_ready(t, NULL);
	/* Who came to its end by itself went on behind its last wait, even where that was not seen. */
	if (last_ns >= states_known_until_ns(t->states) || t->got_signal || t->saw_exit)
		leave_out_last(t->make, life->first);
	life->end = t->make->lives->step_count;
	note_end(t, threads, life, last_ns);
	return err;
}

/* Goes over all that they ran; false of on_run ends it. */
static bool each_run(const struct lives_make *make, struct states *states,
		     bool (*on_run)(void *data, const struct state *state), void *data)
{
	struct state_walk walk;
	struct state state;

	for (size_t i = 0; i < make->lives->count; i++) {
		states_walk(states, make->lives->lives[i].thread, 0, UINT64_MAX, &walk);
		while (state_walk_next(&walk, &state))
			if ((state.kind == STATE_RUNNING || state.kind == STATE_SPINNING) && !on_run(data, &state))
				return false;
	}
	return true;
}

enum { RUNS_MAX = 16 };

/* A CPU on which they ran a few times, and when. */
struct cpu_use {
	uint32_t cpu;
	struct state runs[RUNS_MAX];
	size_t count;
};

static bool note_cpu(void *data, const struct state *state)
{
	bool *is_used = data;

	is_used[state->cpu % CPUS_APART] = true;
	return true;
}

static bool note_run(void *data, const struct state *state)
{
	struct cpu_use *use = data;

	if (state->cpu % CPUS_APART != use->cpu)
		return true;
	if (use->count == RUNS_MAX)
		return false;
	use->runs[use->count++] = *state;
	return true;
}

static bool is_apart(void *data, const struct state *state)
{
	const struct cpu_use *use = data;

	for (size_t i = 0; i < use->count; i++)
		if (state->cpu % CPUS_APART != use->cpu && state->begin_ns < use->runs[i].end_ns &&
		    state->end_ns > use->runs[i].begin_ns)
			return false;
	return true;
}

/*
 * Which CPUs they ran on: a thread may have waited for one that only others of them ran on. One on which they were a few
 * times, and never while they were on another, too, was not theirs: a command that binds itself to CPUs has begun elsewhere.
 */
static void find_cpus(struct lives_make *make, struct states *states)
{
	bool is_used[CPUS_APART] = { false };
	size_t count = 0;

	each_run(make, states, note_cpu, is_used);
	for (uint32_t cpu = 0; cpu < CPUS_APART; cpu++)
		count += is_used[cpu];
	for (uint32_t cpu = 0; cpu < CPUS_APART; cpu++) {
		struct cpu_use use = { .cpu = cpu };

		if (!is_used[cpu])
			continue;
		if (count > 1 && each_run(make, states, note_run, &use) && each_run(make, states, is_apart, &use))
			count--;
		else
			make->cpus[cpu / 64] |= 1ull << cpu % 64;
	}
}

int lives_take(struct lives_make *make, struct states *states, struct threads *threads)
{
	struct lives *lives = make->lives;
	int err = 0;

	find_cpus(make, states);
	for (size_t i = 0; i < lives->count && !err; i++) {
		struct taker taker = {
			.make = make,
			.states = states,
			.life = i,
			.thread = lives->lives[i].thread,
		};

		err = take_life(&taker, threads);
		free(taker.gaps);
	}
	for (size_t i = 0; i < lives->count; i++) {
		struct step *first;

		if (lives->lives[i].first == lives->lives[i].end)
			continue;
		first = &lives->steps[lives->lives[i].first];
		if (first->kind == STEP_LATE && !first->begin_ns)
			first->begin_ns = lives->begin_ns;
	}
	return err;
}
