// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program with events of its own (libpinchtrace), one of which is unusual.
 *
 *	own_unusual WHAT	three threads answer 6,000 requests each, with a mutex (one of each thread) that is held for a
 *				part of that. In the middle, in one of them and once:
 *
 *	none			nothing unusual
 *	unended			a request has no end
 *	order			the mutex is released before the work, not after it
 *	length			a request takes 150 ms
 *	silence			all of them rest for 400 ms between two requests
 *	burst			3,000 events of memory, else one a request
 */
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "pinchtrace.h"

#include "own_activities.h"

enum { THREADS = 3, REQUESTS = 6000, BURST = 3000, LENGTH_US = 150000, SILENCE_US = 400000 };

static const char *what;
static pthread_barrier_t middle;

static void work(uint32_t number)
{
	struct ev_request_work fields = { .bytes = number };

	memcpy(fields.what, "parse", 5);
	trace_event_fields(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_WORK, number, &fields);
}

static void answer(uint32_t thread, uint32_t number, int is_odd)
{
	int is_early = is_odd && !strcmp(what, "order");

	trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_BEGIN, number);
	trace_event(TRACE_SUBSYS_MEMSERV, TRACE_EVENT_MEMSERV_ALLOC, number);
	if (is_odd && !strcmp(what, "burst"))
		for (uint32_t i = 0; i < BURST; i++)
			trace_event(TRACE_SUBSYS_MEMSERV, TRACE_EVENT_MEMSERV_ALLOC, i);
	trace_event(TRACE_SUBSYS_MUTEX, TRACE_EVENT_MUTEX_LOCK, thread);
	if (is_early)
		trace_event(TRACE_SUBSYS_MUTEX, TRACE_EVENT_MUTEX_UNLOCK, thread);
	work(number);
	usleep(is_odd && !strcmp(what, "length") ? LENGTH_US : number % 300);
	if (!is_early)
		trace_event(TRACE_SUBSYS_MUTEX, TRACE_EVENT_MUTEX_UNLOCK, thread);
	if (!is_odd || strcmp(what, "unended"))
		trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_END, number);
}

static void *serve(void *data)
{
	uint32_t thread = 1 + (uint32_t)(uintptr_t)data;

	for (uint32_t i = 0; i < REQUESTS; i++) {
		if (i == REQUESTS / 2) {
			pthread_barrier_wait(&middle);
			if (!strcmp(what, "silence"))
				usleep(SILENCE_US);
		}
		answer(thread, thread * REQUESTS + i, thread == 2 && i == REQUESTS / 2);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	what = argc > 1 ? argv[1] : "none";
	if (trace_register(TRACE_DEFS_JSON) || pthread_barrier_init(&middle, NULL, THREADS))
		return 1;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, serve, (void *)i))
			return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_join(threads[i], NULL))
			return 1;
	return 0;
}
