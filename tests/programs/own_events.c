// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with events of its own (libpinchtrace), which says what it records.
 *
 *	own_events clock COUNT		each with the time before it
 *	own_events threads THREADS COUNT PAUSE	COUNT events in each thread, with a pause of so many us behind each 64
 *	own_events children COUNT	so many forked children record one event each, and end at once
 *	own_events serve		waits for a line on its input, records one event for each, and says which; of a line "f",
 *					how many events it has flushed
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pinchtrace.h"

#include "own_events.h"

static uint32_t count, pause_us;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static int record_clock(void)
{
	struct ev_clock_tick tick = { .before_ns = 0 };

	for (uint32_t i = 0; i < count; i++) {
		tick.before_ns = now_ns();
		trace_event_fields(TRACE_SUBSYS_CLOCK, TRACE_EVENT_CLOCK_TICK, i, &tick);
		if (i % 64 == 63)
			usleep(1000);
	}
	return 0;
}

static void *record_thread(void *data)
{
	for (uint32_t i = 0; i < count; i++) {
		trace_event(TRACE_SUBSYS_COUNT, TRACE_EVENT_COUNT_UP, i);
		if (pause_us && i % 64 == 63)
			usleep(pause_us);
	}
	trace_event(TRACE_SUBSYS_COUNT, TRACE_EVENT_COUNT_ALL, count);
	return data;
}

static int record_threads(int thread_count)
{
	pthread_t threads[64];

	for (int i = 0; i < thread_count && i < 64; i++)
		if (pthread_create(&threads[i], NULL, record_thread, NULL))
			return 1;
	for (int i = 0; i < thread_count && i < 64; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static int record_children(void)
{
	for (uint32_t i = 0; i < count; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child) {
			trace_event(TRACE_SUBSYS_COUNT, TRACE_EVENT_COUNT_UP, i);
			exit(0);
		}
		waitpid(child, NULL, 0);
	}
	return 0;
}

static int serve(void)
{
	char line[64];

	for (uint32_t i = 0; fgets(line, sizeof(line), stdin); i++) {
		trace_event(TRACE_SUBSYS_COUNT, TRACE_EVENT_COUNT_UP, i);
		printf("%u\n", *line == 'f' ? (unsigned)trace_flush() : i);
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (trace_register(TRACE_DEFS_JSON))
		return 1;
	count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	if (!strcmp(what, "clock"))
		return record_clock();
	if (!strcmp(what, "children"))
		return record_children();
	if (!strcmp(what, "serve"))
		return serve();
	if (strcmp(what, "threads") || argc < 5)
		return 2;
	count = strtoul(argv[3], NULL, 10);
	pause_us = strtoul(argv[4], NULL, 10);
	return record_threads(atoi(argv[2]));
}
