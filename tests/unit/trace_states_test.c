/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/pause.h"
#include "query/trace_states.h"
#include "query/trace_states_make.h"
#include "states/states.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"

enum { THREADS = 20000 };

static void write_threads(void)
{
	struct trace_writer *writer;

	CHECK(!trace_writer_open(trace_path, &writer));
	for (uint32_t thread = 1; thread <= THREADS; thread++)
		trace_writer_event(writer,
				   &(struct ev_thread_born){
					   .header = { .time_ns = 1000 + thread,
						       .thread = thread,
						       .subsys = TRACE_SUBSYS_THREAD,
						       .event = TRACE_EVENT_THREAD_BORN },
					   .tid = thread,
					   .pid = 1,
					   .ns_tid = thread,
					   .ns_pid = 1,
					   .name = "one",
				   }
					    .header);
	CHECK(!trace_writer_close(writer));
}

/* Anybody can write to the directory of the trace: its states are kept in a cache, which is the user's alone. */
static char cache[64];

static void cache_begin(void)
{
	snprintf(cache, sizeof(cache), "/tmp/pinch-states-test-XXXXXX");
	CHECK(mkdtemp(cache));
	setenv("XDG_CACHE_HOME", cache, 1);
}

/* What is in the cache; removes it if that is wanted. */
static size_t states_files(bool removes)
{
	char pattern[128];
	glob_t found;
	size_t count;

	snprintf(pattern, sizeof(pattern), "%s/pinch/states/*", cache);
	count = glob(pattern, GLOB_PERIOD, NULL, &found) ? 0 : found.gl_pathc;
	for (size_t i = 0; i < count && removes; i++)
		unlink(found.gl_pathv[i]);
	globfree(&found);
	return count - 2; /* "." and ".." */
}

static void cache_end(void)
{
	char path[128];

	CHECK_EQUAL(states_files(true), 1);
	snprintf(path, sizeof(path), "%s/pinch/states", cache);
	CHECK(!rmdir(path));
	snprintf(path, sizeof(path), "%s/pinch", cache);
	CHECK(!rmdir(path) && !rmdir(cache));
}

struct visitor {
	unsigned int visits, visits_max, percent;
	struct states_waiter waiter;
};

static void visit(void *data)
{
	struct visitor *visitor = data;

	CHECK(visitor->waiter.percent >= visitor->percent && visitor->waiter.percent <= 100);
	visitor->percent = visitor->waiter.percent;
	visitor->waiter.is_cancelled = ++visitor->visits == visitor->visits_max;
}

static void count_thread(void *data, uint32_t thread)
{
	(void)thread;
	++*(size_t *)data;
}

TEST(others_are_let_in_while_states_are_made_and_not_when_they_are_there)
{
	struct visitor visitor = { 0 };
	struct trace_states all;
	size_t count = 0;

	trace_begin();
	cache_begin();
	write_threads();
	for (int round = 0; round < 2; round++) {
		visitor = (struct visitor){ .waiter.pause = { .take = visit, .data = &visitor } };
		CHECK(!trace_states_open_waiting(trace_path, false, &visitor.waiter, &all));
		CHECK(round ? !visitor.visits : visitor.visits >= 4);
		count = 0;
		states_each_thread(all.states, count_thread, &count);
		CHECK_EQUAL(count, THREADS);
		trace_states_close(&all);
	}
	cache_end();
	trace_end();
}

TEST(who_is_let_in_can_give_it_up_and_nothing_is_left_of_it)
{
	struct trace_states all;

	trace_begin();
	cache_begin();
	write_threads();
	for (unsigned int visits = 1; visits <= 4; visits++) {
		struct visitor visitor = { .visits_max = visits, .waiter.pause = { .take = visit, .data = &visitor } };

		CHECK_EQUAL(trace_states_open_waiting(trace_path, false, &visitor.waiter, &all), -ECANCELED);
		CHECK_EQUAL(visitor.visits, visits);
		CHECK(!states_files(false));
	}
	CHECK(!trace_states_open(trace_path, false, NULL, &all));
	trace_states_close(&all);
	cache_end();
	trace_end();
}
