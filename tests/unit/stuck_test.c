/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that take mutexes at random, as glibc's do, until some of them wait for each other: what is
 * reported of that is compared with the truth.
 */
#include "test.h"

#include <linux/futex.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>

#include "account/criticality.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/stuck.h"
#include "session/session.h"
#include "session/threads.h"
#include "symbol/symbol.h"
#include "stacks/stacks.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/sums/missing_wakeups.h"

enum { THREADS = 6, LOCKS = 5, STEPS = 200, SEEDS = 3000, CONTENDED = 2, PID = 1000 };

/* What is known of those that sleep when it is over. */
enum ending { LISTED, NOT_LISTED, KILLED, FOUND };

static struct {
	struct session *session;
	struct symbols *symbols;
	struct threads *threads;
	struct stacks *stacks;
	struct files *files;
	struct others *others;
	struct missing_wakeups *missing;
	struct waits *waits;
	struct criticality *criticality;
	struct findings findings;
	uint64_t now_ns;
	uint32_t random;
	bool is_recorded; /* events are traced from now on */
	uint32_t owners[LOCKS + 1];
	struct {
		uint32_t wants; /* lock; 0: none */
		bool is_asleep;
		uint64_t slept_ns;
	} state[THREADS + 1];
} w;

static uint32_t pick(uint32_t count)
{
	w.random = w.random * 1664525 + 1013904223;
	return (w.random >> 8) % count;
}

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = w.now_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

static void push(const void *event, size_t size_bytes)
{
	if (w.is_recorded)
		CHECK(!session_push(w.session, 0, event, size_bytes));
}

static void begin(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.random = seed;
	w.now_ns = 1000;
	w.session = session_new(1, 1 << 20);
	w.threads = threads_new(w.session);
	w.stacks = stacks_new(w.session, 0);
	w.files = files_new(w.session, 0);
	w.others = others_new(w.session);
	w.missing = missing_wakeups_new(w.session);
	w.waits = waits_new(w.files, w.others, w.missing);
	w.criticality = criticality_new(w.session, w.threads,
					&(struct criticality_options){
						.stacks = w.stacks,
						.waits = w.waits,
						.missing = w.missing,
					});
	w.findings.arena = arena_new();
	w.findings.input.waits = w.waits;
	w.findings.input.stacks = w.stacks;
	w.symbols = symbols_new(w.session);
	symbols_set_offline(w.symbols, false);
	w.findings.names = path_names_new(w.symbols, w.stacks, NULL);
}

static void end(void)
{
	path_names_free(w.findings.names);
	symbols_free(w.symbols);
	arena_free(w.findings.arena);
	criticality_free(w.criticality);
	waits_free(w.waits);
	missing_wakeups_free(w.missing);
	others_free(w.others);
	files_free(w.files);
	stacks_free(w.stacks);
	threads_free(w.threads);
	session_free(w.session);
}

static uint64_t word_of(uint32_t lock)
{
	return 0x1000 + 64 * lock;
}

/* Everybody who lives, as he is found. */
static void push_found(void)
{
	for (uint32_t i = 1; i <= THREADS; i++) {
		struct ev_thread_found e = {
			.header = header_of(EV_THREAD_FOUND, i),
			.tid = i,
			.pid = PID,
			.ns_tid = i,
			.ns_pid = PID,
			.cpu = i,
			.phase = w.state[i].is_asleep ? PHASE_BLOCKED : PHASE_RUNNING,
		};

		if (w.state[i].is_asleep) {
			e.object = word_of(w.state[i].wants);
			e.syscall = SYS_futex;
			e.operation = FUTEX_WAIT;
		}
		push(&e, sizeof(e));
	}
}

static void push_listed(bool is_found)
{
	for (uint32_t i = 1; i <= THREADS; i++) {
		struct ev_thread_waits e = {
			.header = header_of(EV_THREAD_WAITS, i),
			.state = SWITCH_SLEEPING,
			.begin_ns = is_found ? 0 : w.state[i].slept_ns,
			.value = CONTENDED,
			.owners = { w.owners[w.state[i].wants] },
		};

		if (w.state[i].is_asleep)
			push(&e, sizeof(e));
	}
}

static void push_woken(uint32_t thread, uint32_t waker)
{
	struct ev_sched_wake wake = {
		.header = header_of(EV_SCHED_WAKE, thread),
		.waker = waker,
		.tid = waker,
		.context = WAKE_THREAD,
		.syscall = SYS_futex,
	};
	struct ev_sched_switch in = {
		.header = header_of(EV_SCHED_SWITCH, 0),
		.next = thread,
		.cpu = thread,
	};

	push(&wake, sizeof(wake));
	push(&in, sizeof(in));
}

/* Takes the lock that the thread wants, or sleeps. */
static void try_lock(uint32_t thread)
{
	uint32_t lock = w.state[thread].wants;
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, thread),
		.cpu = thread,
		.state = SWITCH_SLEEPING,
		.syscall = SYS_futex,
		.operation = FUTEX_WAIT,
		.object = word_of(lock),
		.value = CONTENDED,
		.owners = { w.owners[lock] },
	};

	if (!w.owners[lock]) {
		w.owners[lock] = thread;
		w.state[thread].wants = 0;
		return;
	}
	w.state[thread].is_asleep = true;
	w.state[thread].slept_ns = w.now_ns;
	push(&e, sizeof(e));
}

static uint32_t first_sleeper(uint32_t lock)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i <= THREADS; i++)
		if (w.state[i].is_asleep && w.state[i].wants == lock &&
		    (!first || w.state[i].slept_ns < w.state[first].slept_ns))
			first = i;
	return first;
}

/* The first sleeper is woken, but another thread may be quicker than it. */
static void unlock(uint32_t thread, uint32_t lock)
{
	uint32_t sleeper = first_sleeper(lock);

	w.owners[lock] = 0;
	if (!sleeper)
		return;
	w.state[sleeper].is_asleep = false;
	push_woken(sleeper, thread);
}

static void step(void)
{
	uint32_t thread = 1 + pick(THREADS), lock = 1 + pick(LOCKS);

	w.now_ns += 1 + pick(pick(2) ? 1000 : 2000000);
	if (w.state[thread].is_asleep)
		return;
	if (w.state[thread].wants) {
		try_lock(thread);
	} else if (w.owners[lock] == thread && pick(50)) {
		unlock(thread, lock);
	} else if (pick(2)) {
		w.state[thread].wants = lock;
		try_lock(thread);
	}
}

/* Whether the thread waits for itself in the end. */
static bool is_deadlocked(uint32_t thread)
{
	uint32_t at = thread;

	for (uint32_t steps = 0; steps < THREADS; steps++) {
		if (!w.state[at].is_asleep)
			return false;
		at = w.owners[w.state[at].wants];
		if (at == thread)
			return true;
	}
	return false;
}

static void kill_all(uint32_t killer)
{
	for (uint32_t i = 1; i <= THREADS; i++) {
		struct ev_sched_switch out;

		w.now_ns += 1000 + pick(20000);
		if (w.state[i].is_asleep)
			push_woken(i, i == killer ? 0 : killer);
		out = (struct ev_sched_switch){
			.header = header_of(EV_SCHED_SWITCH, i),
			.cpu = i,
			.state = SWITCH_DEAD,
		};
		push(&out, sizeof(out));
	}
}

static void finish(enum ending ending)
{
	w.now_ns += 5000000;
	if (ending == FOUND) {
		w.is_recorded = true;
		push_found();
		w.now_ns += 1000;
	}
	if (ending == LISTED || ending == FOUND)
		push_listed(ending == FOUND);
	if (ending == KILLED)
		kill_all(1 + pick(THREADS));
	w.now_ns += 100000;
	session_finish(w.session);
	criticality_finish(w.criticality, w.now_ns);
}

static bool is_reported(const struct stuck *stuck, uint32_t thread)
{
	for (size_t i = 0; i < stuck->count; i++)
		if (stuck->waits[i].wait->ns_tid == thread && stuck->waits[i].cycle)
			return true;
	return false;
}

/* Plays many times; returns how many deadlocked threads were reported. */
static uint32_t play(enum ending ending, uint32_t *deadlocked)
{
	uint32_t recorded = 0;

	*deadlocked = 0;
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		const struct stuck *stuck;

		begin(seed);
		w.is_recorded = ending != FOUND;
		push_found();
		for (uint32_t i = 0; i < STEPS; i++)
			step();
		finish(ending);
		stuck = findings_find_stuck(&w.findings);
		for (uint32_t i = 1; i <= THREADS; i++) {
			if (is_reported(stuck, i) && !is_deadlocked(i))
				fail_msg("seed %u: thread %u is not in a deadlock", seed, i);
			*deadlocked += is_deadlocked(i);
			recorded += is_reported(stuck, i);
		}
		end();
	}
	return recorded;
}

TEST(all_deadlocks_are_reported_and_nothing_else_when_the_waits_are_listed_at_the_end)
{
	uint32_t deadlocked;

	CHECK_EQUAL(play(LISTED, &deadlocked), deadlocked);
	CHECK_THAT(deadlocked, >, SEEDS);
}

TEST(all_deadlocks_that_were_there_before_the_trace_are_reported_and_nothing_else)
{
	uint32_t deadlocked;

	CHECK_EQUAL(play(FOUND, &deadlocked), deadlocked);
	CHECK_THAT(deadlocked, >, SEEDS);
}

TEST(what_is_reported_waits_that_were_not_listed_is_true)
{
	uint32_t deadlocked;

	CHECK_THAT(play(NOT_LISTED, &deadlocked) * 2, >, deadlocked);
}

TEST(what_is_reported_threads_that_were_killed_is_true)
{
	uint32_t deadlocked;

	CHECK_THAT(play(KILLED, &deadlocked) * 2, >, deadlocked);
}
