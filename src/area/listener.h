/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a reader of an area hands out. */
#pragma once

#include <stdint.h>

/* Valid during the call. Ticks are the area's (area_facts()). */
struct area_event {
	uint64_t ticks; /* never below those of the event before it in its ring */
	uint32_t tid;   /* in the process's own PID namespace */
	uint16_t subsystem, event;
	uint32_t argument;
	const void *payload;    /* NULL when there is none */
	uint32_t payload_bytes; /* at most PINCHTRACE_PAYLOAD_MAX */
};

struct area_listener {
	/* Events of one ring in order of time; rings one after the other. */
	void (*on_event)(void *data, const struct area_event *event);
	/*
	 * So many slots of tid's ring cannot be read: they were overwritten, or are damaged. They lay between an event
	 * at from_ticks (0: there was none before) and one at before_ticks. tid 0: nobody knows whose they were.
	 */
	void (*on_lost)(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots);
	void *data;
};
