/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which events there are, and how many bytes each takes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

enum { EVENTS_MAX = 32 }; /* of one subsystem */

struct event_kind {
	enum event_id id;
	uint32_t size_bytes; /* up to the flexible array */
	bool is_flexible;
};

/* NULL: there is none. */
const struct event_kind *event_kind_find(unsigned int subsys, unsigned int event);

/* Whether it is of a known kind and has the size that it says; it need not be aligned. */
bool event_is_well_formed(const void *event, size_t size_bytes);

/* The size of a well-formed event. */
size_t event_bytes(const struct ev_header *header);

/* The other one of the two threads that some events are about; else the only one. */
uint32_t event_other_thread(const struct ev_header *header);
