/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/slots.h"

#include <string.h>

static uint32_t mark_of(const struct pinchtrace_slot *slot)
{
	return slot->time >> 32;
}

/* Each slot says how many follow, and how long all of the payload is. */
static bool payload_read(const struct pinchtrace_slot *slots, uint32_t count, uint32_t size_bytes,
			 unsigned char *payload)
{
	unsigned char part[PINCHTRACE_MORE_PAYLOAD];
	struct pinchtrace_more more;
	uint32_t i, left;

	for (i = 0; i < count; i++) {
		memcpy(&more, &slots[i], sizeof(more));
		if (more.mark != (PINCHTRACE_MORE | (count - 1 - i) << 16 | size_bytes))
			return false;
		memcpy(part, &more.low, sizeof(more.low));
		memcpy(part + sizeof(more.low), &more.high, sizeof(more.high));
		left = size_bytes - i * PINCHTRACE_MORE_PAYLOAD;
		memcpy(payload + i * PINCHTRACE_MORE_PAYLOAD, part, left < sizeof(part) ? left : sizeof(part));
	}
	return true;
}

enum slots_verdict slots_read(const struct pinchtrace_slot *slots, uint32_t count, bool is_last, uint32_t *slot_count,
			      unsigned char payload[static PINCHTRACE_PAYLOAD_MAX], uint32_t *payload_bytes)
{
	uint32_t size_bytes, more_count;

	*slot_count = 1;
	*payload_bytes = 0;
	if (slot_is_more(slots))
		return SLOTS_BAD;
	if (count == 1)
		return is_last ? SLOTS_EVENT : SLOTS_CUT;
	if (!slot_is_more(slots + 1))
		return SLOTS_EVENT;
	size_bytes = PINCHTRACE_MORE_SIZE(mark_of(slots + 1));
	more_count = 1 + PINCHTRACE_MORE_FOLLOWING(mark_of(slots + 1));
	if (!size_bytes || size_bytes > PINCHTRACE_PAYLOAD_MAX ||
	    more_count != (size_bytes + PINCHTRACE_MORE_PAYLOAD - 1) / PINCHTRACE_MORE_PAYLOAD)
		return SLOTS_BAD;
	if (1 + more_count > count)
		return is_last ? SLOTS_BAD : SLOTS_CUT;
	if (!payload_read(slots + 1, more_count, size_bytes, payload))
		return SLOTS_BAD;
	*slot_count = 1 + more_count;
	*payload_bytes = size_bytes;
	return SLOTS_EVENT;
}
