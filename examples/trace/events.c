// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program that records events of its own, as the README has it:
 *
 *	plecoc --header -o app_events.h app.pleco
 *	cc -o events events.c $(pkg-config --cflags --libs libpinchtrace) -pthread
 *	./events
 *
 * Four threads answer requests. At the end it shows what was recorded: thread, time, subsystem, event, argument, fields.
 */
#include <pthread.h>
#include <stdio.h>

#include <pinchtrace.h>

#include "app_events.h"

enum { THREADS = 4, REQUESTS = 3 };

static void answer(uint32_t number)
{
	trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_BEGIN, number);
	for (uint32_t part = 0; part < 2; part++) {
		struct ev_request_part done = { .bytes = 1000 * number + part, .part = part };

		trace_event_fields(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_PART, number, &done);
	}
	trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_END, number);
}

static void *work(void *data)
{
	for (uint32_t i = 0; i < REQUESTS; i++)
		answer(*(uint32_t *)data * REQUESTS + i);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uint32_t numbers[THREADS];

	if (trace_register(TRACE_DEFS_JSON))
		fprintf(stderr, "readers will not know the events' names\n");
	trace_event(TRACE_SUBSYS_APP, TRACE_EVENT_APP_START, 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]))
			return 1;
	}
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	trace_event(TRACE_SUBSYS_APP, TRACE_EVENT_APP_STOP, 0);
	return trace_flush() == 2 + THREADS * REQUESTS * 4 ? 0 : 1;
}
