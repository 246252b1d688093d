/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How old a loop's turns were when samples met them, by what the samples say and what the loop did. */
#include "test.h"

#include <sys/syscall.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "account/event_loop.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/waits.h"

#define MS 1000000ull

static struct {
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct files *files;
	struct others *others;
	struct missing_wakeups *missing;
	struct waits *waits;
	struct code_samples *code;
	struct criticality *criticality;
} w;

static struct ev_header header_of(enum event_id id, uint64_t time_ns, uint32_t thread)
{
	return (struct ev_header){ .time_ns = time_ns, .thread = thread, .subsys = id >> 16, .event = id & 0xffff };
}

static void leaves(uint64_t time_ns, uint8_t state, uint16_t syscall)
{
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, time_ns, 1),
		.state = state,
		.syscall = syscall,
		.value = 3,
	};

	CHECK(!session_push(w.session, 0, &e, sizeof(e)));
}

static void enters(uint64_t time_ns)
{
	struct ev_sched_switch e = { .header = header_of(EV_SCHED_SWITCH, time_ns, 0), .next = 1 };

	CHECK(!session_push(w.session, 0, &e, sizeof(e)));
}

static void wakes(uint64_t time_ns)
{
	struct ev_sched_wake e = {
		.header = header_of(EV_SCHED_WAKE, time_ns, 1),
		.context = WAKE_SOFTIRQ,
		.syscall = SYSCALL_NONE,
	};

	CHECK(!session_push(w.session, 0, &e, sizeof(e)));
}

static void sampled(uint64_t time_ns, uint8_t turn, uint64_t age_ns)
{
	struct ev_sched_sample e = {
		.header = header_of(EV_SCHED_SAMPLE, time_ns, 1),
		.ip = 0x1000,
		.turn = turn,
		.turn_age = age_ns >> TURN_AGE_SHIFT < UINT16_MAX ? age_ns >> TURN_AGE_SHIFT : UINT16_MAX,
	};

	CHECK(!session_push(w.session, 0, &e, sizeof(e)));
}

/* It has just been woken from a poll, and runs from 100 ms on. */
static void begin(void)
{
	struct ev_thread_born born = { .header = header_of(EV_THREAD_BORN, MS, 1), .tid = 1, .pid = 1 };

	w.session = session_new(1, 64 << 20);
	w.threads = threads_new(w.session);
	w.stacks = stacks_new(w.session, 0);
	w.files = files_new(w.session, 0);
	w.others = others_new(w.session);
	w.missing = missing_wakeups_new(w.session);
	w.waits = waits_new(w.files, w.others, w.missing);
	w.code = code_samples_new();
	w.criticality =
		criticality_new(w.session, w.threads,
				&(struct criticality_options){ .stacks = w.stacks, .waits = w.waits, .code = w.code });
	CHECK(!session_push(w.session, 0, &born, sizeof(born)));
	enters(2 * MS);
	leaves(3 * MS, SWITCH_SLEEPING, SYS_epoll_wait);
	wakes(100 * MS);
	enters(100 * MS);
}

static void end(void)
{
	criticality_free(w.criticality);
	code_samples_free(w.code);
	waits_free(w.waits);
	others_free(w.others);
	missing_wakeups_free(w.missing);
	files_free(w.files);
	stacks_free(w.stacks);
	threads_free(w.threads);
	session_free(w.session);
}

/* How many samples met a turn of that age, in the one iteration that there is. */
static void check_turns(uint64_t age_ns, uint32_t known, uint32_t at_least)
{
	const struct thread *thread;
	struct event_loop *loop;
	const struct loop_turns *turns;
	unsigned int class = event_loop_class(2 * age_ns);
	size_t cursor = 0;

	session_finish(w.session);
	criticality_finish(w.criticality, 300 * MS);
	loop = criticality_next_loop(w.criticality, &cursor, &thread);
	CHECK(loop);
	CHECK_EQUAL(loop->count, 1);
	turns = &loop->longest.turns;
	CHECK_EQUAL(turns->known[class], known);
	CHECK_EQUAL(turns->at_least[class], at_least);
	for (unsigned int i = 0; i < LOOP_CLASSES; i++)
		CHECK(i == class || (!turns->known[i] && !turns->at_least[i]));
	event_loop_free(loop);
}

TEST(a_turn_is_as_old_as_its_poll)
{
	begin();
	sampled(150 * MS, TURN_SINCE_POLL, 20 * MS);
	sampled(151 * MS, TURN_UNKNOWN, 0);
	check_turns(20 * MS, 1, 0);
	end();
}

TEST(a_turn_that_began_before_the_watch_is_older_than_that)
{
	begin();
	sampled(150 * MS, TURN_SINCE_WATCH, 20 * MS);
	check_turns(20 * MS, 0, 1);
	end();
}

TEST(a_turn_begins_with_its_iteration_whatever_was_seen_before)
{
	begin();
	sampled(120 * MS, TURN_SINCE_POLL, 110 * MS);
	sampled(121 * MS, TURN_SINCE_WATCH, 70 * MS);
	check_turns(20 * MS, 2, 0);
	end();
}

TEST(a_thread_that_waits_for_a_cpu_does_not_get_older)
{
	begin();
	leaves(110 * MS, SWITCH_RUNNABLE, SYSCALL_NONE);
	enters(140 * MS);
	leaves(142 * MS, SWITCH_BLOCKED, SYS_fdatasync);
	wakes(144 * MS);
	enters(150 * MS);
	sampled(151 * MS, TURN_SINCE_POLL, 44 * MS); /* 3, 2, 2 and 1 */
	check_turns(8 * MS, 1, 0);
	end();
}

TEST(of_an_age_above_all_that_can_be_said_or_a_past_that_is_not_kept_so_long_it_is_a_bound)
{
	enum { SLICES = 10000 };
	uint64_t time_ns = 100 * MS;

	begin();
	for (int i = 0; i < SLICES; i++) {
		leaves(time_ns + 5000, SWITCH_RUNNABLE, SYSCALL_NONE);
		enters(time_ns + 10000);
		time_ns += 10000;
	}
	sampled(time_ns + 10, TURN_SINCE_POLL, 90 * MS);
	check_turns(100000, 0, 1); /* the least class */
	end();
}
