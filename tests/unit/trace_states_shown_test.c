/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A history that is read while it is made of a whole trace, against one that nobody reads before it is whole. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/pause.h"
#include "query/trace_states.h"
#include "query/trace_states_make.h"
#include "states/states.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"
#include "values.h"

enum { THREADS = 7, STACKS = 40, SWITCHES = 120000, CHUNK_EVENTS = 1500, STEP_NS = 10000, SHOWN_MAX = 64 };

/* Where histories are made: anybody can write to the directory of the trace. */
static char cache[64];

static void cache_begin(void)
{
	snprintf(cache, sizeof(cache), "/tmp/pinch-states-shown-XXXXXX");
	CHECK(mkdtemp(cache));
	setenv("XDG_CACHE_HOME", cache, 1);
}

static void cache_end(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/pinch/states", cache);
	CHECK(!rmdir(path));
	snprintf(path, sizeof(path), "%s/pinch", cache);
	CHECK(!rmdir(path) && !rmdir(cache));
}

static struct trace_writer *writer;
static uint64_t now_ns;

static void put(void *event, uint8_t subsys, uint8_t id, uint32_t thread)
{
	struct ev_header *header = event;

	*header = (struct ev_header){ .time_ns = now_ns, .thread = thread, .subsys = subsys, .event = id };
	trace_writer_event(writer, header);
}

static void put_stacks(void)
{
	struct {
		struct ev_stack_frames frames;
		uint64_t addresses[2];
	} e;

	for (uint64_t stack = 1; stack <= STACKS; stack++) {
		memset(&e, 0, sizeof(e));
		e.frames.stack = stack;
		e.frames.user_count = 2;
		e.addresses[0] = 0x1000 + stack;
		e.addresses[1] = 0x2000;
		put(&e, TRACE_SUBSYS_STACK, TRACE_EVENT_STACK_FRAMES, 1);
	}
}

/* A thread waits, the next one gets its CPU and wakes it. */
static void put_switch(uint64_t i)
{
	uint32_t thread = 1 + i % THREADS, next = 1 + (i + 1) % THREADS;

	now_ns += STEP_NS;
	put(&(struct ev_sched_switch){ .next = next,
				       .state = SWITCH_SLEEPING,
				       .flags = SWITCH_HAS_STACK,
				       .stack = 1 + i % STACKS,
				       .syscall = 202,
				       .object = 0x5000 + i % 3 },
	    TRACE_SUBSYS_SCHED, TRACE_EVENT_SCHED_SWITCH, thread);
	now_ns += STEP_NS;
	put(&(struct ev_sched_wake){ .waker = next, .tid = next, .pid = 1, .syscall = 202 }, TRACE_SUBSYS_SCHED,
	    TRACE_EVENT_SCHED_WAKE, thread);
}

static void write_trace(bool has_stacks_last)
{
	now_ns = 1000000;
	CHECK(!trace_writer_open(trace_path, &writer));
	for (uint32_t thread = 1; thread <= THREADS; thread++)
		put(&(struct ev_thread_born){ .tid = thread, .pid = 1, .ns_tid = thread, .ns_pid = 1, .name = "one" },
		    TRACE_SUBSYS_THREAD, TRACE_EVENT_THREAD_BORN, thread);
	if (!has_stacks_last)
		put_stacks();
	for (uint64_t i = 0; i < SWITCHES; i++) {
		put_switch(i);
		if (!(i % CHUNK_EVENTS))
			trace_writer_flush(writer, UINT64_MAX, 0);
	}
	if (has_stacks_last)
		put_stacks();
	CHECK(!trace_writer_close(writer));
}

struct reader {
	struct states *states;
	unsigned int count; /* how often it has grown */
	struct seen {
		uint64_t until_ns, ns[THREADS][SHARES];
	} seen[SHOWN_MAX];
};

static void measure(struct states *states, uint64_t until_ns, struct seen *seen)
{
	seen->until_ns = until_ns;
	for (uint32_t thread = 1; thread <= THREADS; thread++)
		states_add_shares(states, thread, 0, until_ns, seen->ns[thread - 1]);
}

static int show(void *data, const char *path)
{
	struct reader *reader = data;

	if (reader->states)
		CHECK(!states_grow(reader->states));
	else
		CHECK(!states_open_growing(path, &reader->states));
	CHECK(reader->count < SHOWN_MAX);
	measure(reader->states, states_end_ns(reader->states), &reader->seen[reader->count++]);
	return 0;
}

static void take_no_pause(void *data)
{
	(void)data;
}

static void make(struct reader *reader, struct trace_states *all)
{
	struct states_waiter waiter = {
		.pause = { .take = take_no_pause, .period_ns = UINT64_MAX / 2 },
		.show = reader ? show : NULL,
		.show_data = reader,
	};

	CHECK(!trace_states_open_waiting(trace_path, false, &waiter, all));
	CHECK(!unlink(all->path));
}

static void check_same(struct states *a, struct states *b)
{
	struct state_walk x, y;
	struct state s, t;

	for (uint32_t thread = 1; thread <= THREADS; thread++) {
		states_walk(a, thread, 0, UINT64_MAX, &x);
		states_walk(b, thread, 0, UINT64_MAX, &y);
		while (state_walk_next(&x, &s)) {
			CHECK(state_walk_next(&y, &t));
			CHECK(s.begin_ns == t.begin_ns && s.end_ns == t.end_ns && s.kind == t.kind);
			CHECK(s.value.why == t.value.why && s.value.stack == t.value.stack);
		}
		CHECK(!state_walk_next(&y, &t));
	}
}

static void check(bool has_stacks_last)
{
	struct reader *reader = xcalloc(1, sizeof(*reader));
	struct trace_states shown, plain;
	struct seen *final = xcalloc(1, sizeof(*final));

	trace_begin();
	cache_begin();
	write_trace(has_stacks_last);
	make(reader, &shown);
	make(NULL, &plain);
	CHECK(reader->count >= 1);
	check_same(shown.states, plain.states);
	for (unsigned int i = 0; i < reader->count; i++) {
		const struct seen *seen = &reader->seen[i];

		CHECK(seen->until_ns > (i ? reader->seen[i - 1].until_ns : 0));
		memset(final, 0, sizeof(*final));
		measure(plain.states, seen->until_ns, final);
		CHECK(!memcmp(final->ns, seen->ns, sizeof(final->ns)));
	}
	trace_states_close(&shown);
	trace_states_close(&plain);
	states_close(reader->states);
	cache_end();
	trace_end();
	free(final);
	free(reader);
}

TEST(what_is_shown_of_a_history_that_is_being_made_holds_to_the_end)
{
	check(false);
}

TEST(a_history_is_the_same_if_the_frames_of_stacks_come_long_after_the_waits)
{
	check(true);
}
