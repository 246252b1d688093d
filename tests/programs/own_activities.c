// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A program whose own events (libpinchtrace) are those of activities.
 *
 *	own_activities COUNT	COUNT requests, each with a mutex (one of three) that is held for 1 ms and one ALLOC of 100
 *				bytes more than the one before; and a note to another thread, which reads it
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pinchtrace.h"

#include "own_activities.h"

enum { MUTEXES = 3, HELD_US = 1000 };

static int notes[2];

static void answer(uint32_t number)
{
	struct ev_request_work work = { .bytes = 1000 + number };

	memcpy(work.what, "parse", 5);
	trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_BEGIN, number);
	trace_event(TRACE_SUBSYS_MUTEX, TRACE_EVENT_MUTEX_LOCK, number % MUTEXES);
	trace_event(TRACE_SUBSYS_MEMSERV, TRACE_EVENT_MEMSERV_ALLOC, 100 * number);
	trace_event_fields(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_WORK, number, &work);
	usleep(HELD_US);
	trace_event(TRACE_SUBSYS_MUTEX, TRACE_EVENT_MUTEX_UNLOCK, number % MUTEXES);
	trace_event(TRACE_SUBSYS_MEMSERV, TRACE_EVENT_MEMSERV_FREE, 100 * number);
	trace_event(TRACE_SUBSYS_REQUEST, TRACE_EVENT_REQUEST_END, number);
}

static void *read_notes(void *data)
{
	uint32_t number;

	while (read(notes[0], &number, sizeof(number)) == sizeof(number))
		trace_event(TRACE_SUBSYS_MAIL, TRACE_EVENT_MAIL_NOTE_RECEIVE, number);
	return data;
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t reader;

	if (trace_register(TRACE_DEFS_JSON) || pipe(notes) || pthread_create(&reader, NULL, read_notes, NULL))
		return 1;
	for (uint32_t i = 1; i <= count; i++) {
		answer(i);
		trace_event(TRACE_SUBSYS_MAIL, TRACE_EVENT_MAIL_NOTE_SEND, i);
		if (write(notes[1], &i, sizeof(i)) != sizeof(i))
			return 1;
	}
	close(notes[1]);
	return pthread_join(reader, NULL);
}
