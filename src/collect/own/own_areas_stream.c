/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was read from rings, as events of threads, by when these are known. */
#include "collect/own/own_areas_internal.h"

#include <string.h>

#include "pinchtrace_format.h"
#include "session/session.h"
#include "session/threads.h"

/* By then the thread is known, and by its id alone nobody else is. */
static uint32_t number_of(const struct own_areas *areas, uint32_t pid, uint32_t ns_tid)
{
	const struct thread *thread = threads_find_own(areas->threads, pid, ns_tid);

	return thread ? thread->number : 0;
}

static void on_read(void *data, const struct ev_header *header)
{
	const struct ev_user_read *read = (const struct ev_user_read *)header;
	struct own_areas *areas = data;
	struct {
		struct ev_user_event e;
		uint8_t payload[PINCHTRACE_PAYLOAD_MAX];
	} out = {
		.e = {
			.header = {
				.time_ns = header->time_ns,
				.thread = number_of(areas, read->pid, read->ns_tid),
				.subsys = TRACE_SUBSYS_USER,
				.event = TRACE_EVENT_USER_EVENT,
			},
			.schema = read->schema,
			.subsystem = read->subsystem,
			.event = read->event,
			.argument = read->argument,
			.payload_bytes = read->payload_bytes,
		},
	};

	memcpy(out.e.payload, read->payload, read->payload_bytes);
	session_hand_out(areas->session, &out.e.header);
}

static void on_read_lost(void *data, const struct ev_header *header)
{
	const struct ev_user_read_lost *read = (const struct ev_user_read_lost *)header;
	struct own_areas *areas = data;
	struct ev_user_lost e = {
		.header = {
			.time_ns = header->time_ns,
			.thread = number_of(areas, read->pid, read->ns_tid),
			.subsys = TRACE_SUBSYS_USER,
			.event = TRACE_EVENT_USER_LOST,
		},
		.from_ns = read->from_ns,
		.slots = read->slots,
	};

	session_hand_out(areas->session, &e.header);
}

void own_areas_follow_stream(struct own_areas *areas)
{
	static const struct event_handler handlers[] = {
		{ EV_USER_READ, on_read },
		{ EV_USER_READ_LOST, on_read_lost },
		{ 0, NULL },
	};

	session_subscribe(areas->session, handlers, areas);
}
