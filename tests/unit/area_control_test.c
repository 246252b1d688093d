/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches and triggers from outside do what those inside do. */
#include "test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>

#include "area/area.h"
#include "area/control.h"
#include "pinchtrace_programs.h"

enum { NET = 3, DISK, LOG };
enum { BEGIN = 1, STEP, END };

static void leave_to_scope(void);

const struct program programs[] = { { "leave_to_scope", leave_to_scope }, { 0 } };

struct seen {
	uint32_t tid;
	size_t count;
	uint32_t arguments[64]; /* of the last ones */
};

static void on_event(void *data, const struct area_event *event)
{
	struct seen *seen = data;

	if (event->tid == seen->tid)
		seen->arguments[seen->count++ % 64] = event->argument;
}

static void on_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	(void)data, (void)tid, (void)from_ticks, (void)before_ticks, (void)slots;
}

static int own_fd(void)
{
	char path[512] = "";
	int fd;

	CHECK_EQUAL(mapped_areas(getpid(), path, sizeof(path)), 1);
	fd = open(path, O_RDWR | O_CLOEXEC);
	CHECK_THAT(fd, >=, 0);
	return fd;
}

/* This program, as it is seen and switched from outside. */
struct outside {
	int fd;
	struct area *area;
	struct seen seen;
};

static struct seen take(struct outside *outside)
{
	struct area_listener listener = { on_event, on_lost, &outside->seen };
	uint64_t until = UINT64_MAX;

	outside->seen = (struct seen){ .tid = gettid() };
	CHECK_EQUAL(area_take(outside->area, &listener, &until), 0);
	return outside->seen;
}

static void outside_init(struct outside *outside)
{
	trace_clear_triggers();
	trace_enable_all();
	outside->fd = own_fd();
	CHECK_EQUAL(area_open(own_fd(), &outside->area), 0);
	take(outside);
}

static void outside_fini(struct outside *outside)
{
	area_close(outside->area);
	close(outside->fd);
	trace_clear_triggers();
	trace_enable_all();
}

static uint32_t phase_of(const struct outside *outside)
{
	static struct area_control control;

	CHECK_EQUAL(area_control_read(outside->fd, &control), 0);
	return control.phase;
}

static uint32_t event_key(uint32_t subsystem, uint32_t event)
{
	return subsystem | event << 16;
}

/* --- The tests --------------------------------------------------------------------------- */

TEST(a_subsystem_is_switched_off_and_on)
{
	struct outside outside;
	struct seen seen;

	outside_init(&outside);
	CHECK_EQUAL(area_control_switch(outside.fd, NET, false), 0);
	trace_event(NET, STEP, 1);
	trace_event(DISK, STEP, 2);
	CHECK_EQUAL(area_control_switch(outside.fd, NET, true), 0);
	trace_event(NET, STEP, 3);
	CHECK_EQUAL(area_control_switch_all(outside.fd, false), 0);
	trace_event(NET, STEP, 4);
	CHECK_EQUAL(area_control_switch_all(outside.fd, true), 0);
	trace_event(NET, STEP, 5);
	seen = take(&outside);
	CHECK(seen.count == 3 && seen.arguments[0] == 2 && seen.arguments[1] == 3 && seen.arguments[2] == 5);
	CHECK_EQUAL(pinchtrace_on[NET], PINCHTRACE_ON_RECORD);
	outside_fini(&outside);
}

/* The events 1 to 9: a step, a start, two steps, a stop, and so on. */
static void work(uint32_t first)
{
	trace_event(LOG, STEP, first);
	trace_event(NET, BEGIN, first + 1);
	trace_event(LOG, STEP, first + 2);
	trace_event(LOG, STEP, first + 3);
	trace_event(DISK, END, first + 4);
	trace_event(LOG, STEP, first + 5);
}

TEST(triggers_start_and_stop_as_those_from_inside)
{
	struct area_triggers triggers = { event_key(NET, BEGIN), event_key(DISK, END), 0, 0, PINCHTRACE_MODE_ONE_SHOT };
	struct outside outside;
	struct seen seen;

	outside_init(&outside);
	CHECK_EQUAL(area_control_set(outside.fd, &triggers), 0);
	CHECK_EQUAL(phase_of(&outside), PINCHTRACE_PHASE_REQUEST);
	trace_event(LOG, STEP, 0);
	CHECK_EQUAL(phase_of(&outside), PINCHTRACE_PHASE_ARMED);
	work(1);
	work(7);
	seen = take(&outside);
	CHECK(seen.count == 4 && seen.arguments[0] == 2 && seen.arguments[3] == 5);
	CHECK_EQUAL(phase_of(&outside), PINCHTRACE_PHASE_DONE);

	triggers.mode = PINCHTRACE_MODE_REPEATED;
	triggers.count = 3;
	CHECK_EQUAL(area_control_set(outside.fd, &triggers), 0);
	work(1);
	work(7);
	seen = take(&outside);
	CHECK(seen.count == 6 && seen.arguments[0] == 2 && seen.arguments[2] == 4 && seen.arguments[3] == 8);

	CHECK_EQUAL(area_control_clear(outside.fd), 0);
	work(1);
	CHECK_EQUAL(take(&outside).count, 6);
	CHECK_EQUAL(phase_of(&outside), PINCHTRACE_PHASE_NONE);
	outside_fini(&outside);
}

TEST(events_that_start_and_stop_need_not_be_enabled)
{
	struct area_triggers triggers = { event_key(NET, BEGIN), event_key(DISK, END), 0, 0, PINCHTRACE_MODE_ONE_SHOT };
	struct outside outside;
	struct seen seen;

	outside_init(&outside);
	trace_disable_all();
	CHECK_EQUAL(area_control_set(outside.fd, &triggers), 0);
	work(1);
	seen = take(&outside);
	CHECK(seen.count == 2 && seen.arguments[0] == 2 && seen.arguments[1] == 5);
	/* Others are marked then, and these no more. */
	triggers.start = event_key(LOG, STEP);
	CHECK_EQUAL(area_control_set(outside.fd, &triggers), 0);
	work(1);
	CHECK_EQUAL(take(&outside).count, 2);
	CHECK(!pinchtrace_on[NET] && pinchtrace_on[LOG] == PINCHTRACE_ON_TRIGGER);
	outside_fini(&outside);
}

TEST(tracing_is_stopped_and_started_at_any_time)
{
	struct outside outside;
	struct seen seen;

	outside_init(&outside);
	CHECK_EQUAL(area_control_stop(outside.fd), 0);
	work(1);
	CHECK_EQUAL(take(&outside).count, 0);
	CHECK_EQUAL(area_control_start(outside.fd), 0);
	work(1);
	seen = take(&outside);
	CHECK(seen.count == 6 && seen.arguments[0] == 1);
	CHECK_EQUAL(area_control_clear(outside.fd), 0);
	outside_fini(&outside);
}

TEST(of_two_requests_the_last_one_counts)
{
	struct area_triggers triggers = { PINCHTRACE_NO_EVENT, PINCHTRACE_NO_EVENT, 0, 2, PINCHTRACE_MODE_ONE_SHOT };
	struct outside outside;

	outside_init(&outside);
	CHECK_EQUAL(area_control_stop(outside.fd), 0);
	CHECK_EQUAL(area_control_set(outside.fd, &triggers), 0);
	work(1);
	CHECK_EQUAL(take(&outside).count, 2);
	outside_fini(&outside);
}

TEST(a_request_that_nobody_would_make_clears_the_triggers)
{
	struct area_triggers triggers = { 0, 0, 0, UINT64_MAX, 77 };
	struct outside outside;

	outside_init(&outside);
	CHECK_EQUAL(area_control_set(outside.fd, &triggers), 0);
	work(1);
	CHECK_EQUAL(take(&outside).count, 6);
	CHECK_EQUAL(phase_of(&outside), PINCHTRACE_PHASE_NONE);
	outside_fini(&outside);
}

static void leave_to_scope(void)
{
	int fd;
	char path[512] = "";

	MUST(mapped_areas(getpid(), path, sizeof(path)) == 1);
	fd = open(path, O_RDWR | O_CLOEXEC);
	trace_event(LOG, STEP, 0);
	MUST(area_control_scope(fd, UINT64_MAX) == 0 && trace_flush() == 0);
	MUST(area_control_scope(fd, 0) == 0 && trace_flush() == 1);
}

TEST(a_scope_says_until_when_it_takes_the_events)
{
	const char *directory = directory_make();

	CHECK_EQUAL(program_do("leave_to_scope", directory, "PINCHTRACE_FILE=/dev/null"), 0);
	directory_remove(directory);
}

TEST(who_keeps_the_lock_keeps_nobody_waiting)
{
	struct outside outside;
	int other;

	outside_init(&outside);
	other = own_fd();
	CHECK_EQUAL(flock(other, LOCK_EX), 0);
	CHECK_EQUAL(area_control_stop(outside.fd), -EBUSY);
	close(other);
	CHECK_EQUAL(area_control_stop(outside.fd), 0);
	CHECK_EQUAL(area_control_clear(outside.fd), 0);
	trace_event(LOG, STEP, 0);
	outside_fini(&outside);
}

/* Events of this thread carry out one request while others are made. */
static void *work_until_over(void *data)
{
	while (!__atomic_load_n((bool *)data, __ATOMIC_RELAXED))
		work(1);
	return NULL;
}

TEST(requests_while_threads_record_leave_what_the_last_one_says)
{
	struct area_triggers triggers = { event_key(NET, BEGIN), event_key(DISK, END), 0, 0, PINCHTRACE_MODE_REPEATED };
	struct area_triggers never = { event_key(9, 9), event_key(9, 9), 0, 0, PINCHTRACE_MODE_ONE_SHOT };
	static struct area_control control;
	struct outside outside;
	pthread_t threads[2];
	bool is_over = false;

	outside_init(&outside);
	for (int i = 0; i < 2; i++)
		CHECK_EQUAL(pthread_create(&threads[i], NULL, work_until_over, &is_over), 0);
	for (int i = 0; i < (is_long() ? 20000 : 500); i++) {
		const struct area_triggers *set = i % 2 ? &never : &triggers;

		CHECK_EQUAL(area_control_set(outside.fd, set), 0);
		if (i % 3 == 0)
			continue;
		WAIT_FOR((area_control_read(outside.fd, &control),
			  control.phase != PINCHTRACE_PHASE_REQUEST && control.phase != PINCHTRACE_PHASE_BUSY));
		CHECK(control.triggers.start == set->start && control.triggers.mode == set->mode);
		if (set == &never)
			CHECK_EQUAL(control.phase, PINCHTRACE_PHASE_ARMED);
	}
	__atomic_store_n(&is_over, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	outside_fini(&outside);
}
