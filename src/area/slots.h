/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What copied slots of a ring say: where events begin, and what they carry. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "pinchtrace_format.h"

enum slots_verdict {
	SLOTS_EVENT,
	SLOTS_CUT, /* more slots are needed to tell */
	SLOTS_BAD, /* no event begins here */
};

/* Whether it belongs to an event that began before it. */
static inline bool slot_is_more(const struct pinchtrace_slot *slot)
{
	return slot->time >> 32 & PINCHTRACE_MORE;
}

/*
 * Looks at the first of count slots, 1 at least. is_last: none follow. An event has *slot_count of them, and
 * *payload_bytes in payload.
 */
enum slots_verdict slots_read(const struct pinchtrace_slot *slots, uint32_t count, bool is_last, uint32_t *slot_count,
			      unsigned char payload[static PINCHTRACE_PAYLOAD_MAX], uint32_t *payload_bytes);
