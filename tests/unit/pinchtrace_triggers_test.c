/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is recorded between the events that start and stop it. */
#include "pinchtrace_fixture.h"

#include <pthread.h>
#include <sys/syscall.h>

enum { NET, DISK };
enum { BEGIN, STEP, END };

const struct program programs[] = { { 0 } };

static uint64_t start_index;

/* The arguments of all events of this thread since the last call, as text. */
static const char *recorded(void)
{
	static char text[4096];
	struct snapshot snapshot;
	int number = ring_of(own_area(), syscall(SYS_gettid));
	size_t at = 0;

	text[0] = '\0';
	if (number < 0)
		return text;
	CHECK(snapshot_take_from(&snapshot, own_area(), number, start_index));
	for (size_t i = 0; i < snapshot.event_count; i++)
		at += snprintf(text + at, sizeof(text) - at, "%s%u", i ? " " : "", snapshot.events[i].argument);
	start_index = snapshot.head;
	snapshot_free(&snapshot);
	return text;
}

/* BEGIN 1, STEP 2, END 3, STEP 4, BEGIN 5 ... from first on, after a step 0. */
static void run(int rounds)
{
	int argument = 1;

	trace_event(DISK, STEP, 0);
	for (int i = 0; i < rounds; i++) {
		trace_event(NET, BEGIN, argument++);
		trace_event(DISK, STEP, argument++);
		trace_event(NET, END, argument++);
		trace_event(DISK, STEP, argument++);
	}
}

static uint32_t phase(void)
{
	const struct pinchtrace_control *control =
		(const struct pinchtrace_control *)(own_area()->base + own_area()->header->control_offset);

	return control->state & PINCHTRACE_PHASE_MASK;
}

TEST(one_shot_records_from_the_first_start_event_to_the_stop_event)
{
	trace_event(NET, BEGIN, 0);
	recorded();
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, 0, TRACE_ONE_SHOT), 0);
	CHECK_EQUAL(phase(), PINCHTRACE_PHASE_ARMED);
	run(3);
	CHECK_STRING(recorded(), "1 2 3");
	CHECK_EQUAL(phase(), PINCHTRACE_PHASE_DONE);
}

TEST(repeated_starts_again_after_each_stop)
{
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, 0, TRACE_REPEATED), 0);
	run(3);
	CHECK_STRING(recorded(), "1 2 3 5 6 7 9 10 11");
	CHECK_EQUAL(phase(), PINCHTRACE_PHASE_ARMED);
}

TEST(continuous_starts_once_and_goes_on)
{
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 1, 1, TRACE_CONTINUOUS), 0);
	run(2);
	CHECK_STRING(recorded(), "1 2 3 4 5 6 7 8");
}

TEST(a_count_ends_it_with_the_start_event_counted)
{
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, TRACE_NO_EVENT, 0, 0, 4, TRACE_ONE_SHOT), 0);
	run(3);
	CHECK_STRING(recorded(), "1 2 3 4");
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, TRACE_NO_EVENT, 0, 0, 1, TRACE_REPEATED), 0);
	run(3);
	CHECK_STRING(recorded(), "1 5 9");
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, 2, TRACE_REPEATED), 0);
	run(2);
	CHECK_STRING(recorded(), "1 2 5 6");
}

TEST(a_duration_ends_it)
{
	struct timespec begun, now;

	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, TRACE_NO_EVENT, 0, 1000000, 0, TRACE_REPEATED), 0);
	trace_event(NET, BEGIN, 1);
	clock_gettime(CLOCK_MONOTONIC, &begun);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begun.tv_sec) * 1000000000 + now.tv_nsec - begun.tv_nsec < 1000000);
	trace_event(DISK, STEP, 2);
	CHECK_STRING(recorded(), "1");
	trace_event(NET, BEGIN, 3);
	CHECK_EQUAL(phase(), PINCHTRACE_PHASE_RUNNING);
	CHECK_STRING(recorded(), "3");
	/* Longer than the clock will run. */
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, TRACE_NO_EVENT, 0, UINT64_MAX, 0, TRACE_ONE_SHOT), 0);
	run(2);
	CHECK_STRING(recorded(), "1 2 3 4 5 6 7 8");
}

TEST(without_a_start_event_it_starts_at_once)
{
	CHECK_EQUAL(trace_set_triggers(TRACE_NO_EVENT, 0, NET, END, 0, 0, TRACE_ONE_SHOT), 0);
	run(2);
	CHECK_STRING(recorded(), "0 1 2 3");
	CHECK_EQUAL(trace_set_triggers(TRACE_NO_EVENT, 0, TRACE_NO_EVENT, 0, 0, 3, TRACE_ONE_SHOT), 0);
	run(2);
	CHECK_STRING(recorded(), "0 1 2");
}

TEST(start_and_stop_work_where_their_subsystem_is_disabled)
{
	trace_disable(NET);
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, 0, TRACE_REPEATED), 0);
	run(2);
	CHECK_STRING(recorded(), "1 2 3 5 6 7");
	trace_event(NET, BEGIN, 1);
	trace_event(NET, STEP, 2);
	trace_event(NET, END, 3);
	CHECK_STRING(recorded(), "1 3");
	trace_enable(NET);
}

TEST(what_is_disabled_is_not_recorded_between_them)
{
	trace_disable(DISK);
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, 0, TRACE_REPEATED), 0);
	run(2);
	CHECK_STRING(recorded(), "1 3 5 7");
	trace_enable(DISK);
}

TEST(payloads_trigger_too)
{
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, 0, TRACE_ONE_SHOT), 0);
	trace_event_payload(DISK, STEP, 0, "x", 1);
	trace_event_payload(NET, BEGIN, 1, "x", 1);
	trace_event_payload(DISK, STEP, 2, "x", 1);
	trace_event_payload(NET, END, 3, "x", 1);
	trace_event_payload(DISK, STEP, 4, "x", 1);
	CHECK_STRING(recorded(), "1 2 3");
}

TEST(what_cannot_be_is_refused)
{
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, 0, (enum trace_mode)3), -EINVAL);
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, NET, END, 0, UINT64_MAX, TRACE_ONE_SHOT), -EINVAL);
}

TEST(without_triggers_the_switches_alone_count)
{
	trace_clear_triggers();
	CHECK_EQUAL(phase(), PINCHTRACE_PHASE_NONE);
	run(1);
	CHECK_STRING(recorded(), "0 1 2 3 4");
}

/* --- Threads ----------------------------------------------------------------------------- */

enum { THREADS = 4 };
enum { WAIT, WRITE, STAY, END_ALL };

struct stepper {
	const int *stage;
	uint32_t tid;
};

static void *step(void *data)
{
	struct stepper *stepper = data;

	trace_event(DISK, STEP, 0);
	__atomic_store_n(&stepper->tid, syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (__atomic_load_n(stepper->stage, __ATOMIC_ACQUIRE) == WAIT)
		sched_yield();
	while (__atomic_load_n(stepper->stage, __ATOMIC_ACQUIRE) == WRITE)
		for (int i = 0; i < 100; i++)
			trace_event(DISK, STEP, 1);
	while (__atomic_load_n(stepper->stage, __ATOMIC_ACQUIRE) != END_ALL)
		sched_yield();
	return NULL;
}

/* The triggers are set while all threads wait: who is in an event already may still record it. */
static void check_round(void)
{
	struct stepper steppers[THREADS];
	pthread_t threads[THREADS];
	struct snapshot snapshot;
	uint64_t start_time, count = 1;
	int stage = WAIT;

	trace_clear_triggers();
	for (int i = 0; i < THREADS; i++) {
		steppers[i] = (struct stepper){ .stage = &stage };
		CHECK_EQUAL(pthread_create(&threads[i], NULL, step, &steppers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		WAIT_FOR(__atomic_load_n(&steppers[i].tid, __ATOMIC_ACQUIRE));
	recorded();
	CHECK_EQUAL(trace_set_triggers(NET, BEGIN, TRACE_NO_EVENT, 0, 0, 2000, TRACE_ONE_SHOT), 0);
	__atomic_store_n(&stage, WRITE, __ATOMIC_RELEASE);
	trace_event(NET, BEGIN, 77);
	WAIT_FOR(phase() == PINCHTRACE_PHASE_DONE);
	__atomic_store_n(&stage, STAY, __ATOMIC_RELEASE);
	CHECK(snapshot_take_from(&snapshot, own_area(), ring_of(own_area(), syscall(SYS_gettid)), start_index));
	CHECK_EQUAL(snapshot.event_count, 1);
	CHECK_EQUAL(snapshot.events[0].argument, 77);
	start_time = snapshot.events[0].time;
	snapshot_free(&snapshot);
	__atomic_store_n(&stage, END_ALL, __ATOMIC_RELEASE);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t number = 0; number < own_area()->header->ring_count; number++) {
		CHECK(snapshot_take(&snapshot, own_area(), number));
		for (int i = 0; i < THREADS; i++) {
			if (snapshot.tid != steppers[i].tid)
				continue;
			for (size_t at = 1; at < snapshot.event_count; at++)
				CHECK_THAT(snapshot.events[at].time, >=, start_time);
			count += snapshot.event_count - 1;
		}
		snapshot_free(&snapshot);
	}
	CHECK_EQUAL(count, 2000);
}

TEST(of_all_threads_nothing_is_older_than_the_start_event_and_the_count_is_exact)
{
	for (int round = 0; round < (is_long() ? 1000 : 50); round++)
		check_round();
	trace_clear_triggers();
}
