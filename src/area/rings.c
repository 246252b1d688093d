/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/rings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "area/header.h"
#include "area/listener.h"
#include "area/slots.h"
#include "base/memory.h"
#include "pinchtrace_format.h"

/* So many slots are copied at a time: more than an event can have. */
#define CHUNK_SLOTS 4096u
/* So many are taken in one call: 64 MiB, some 50 ms. */
#define CALL_SLOTS_MAX (1u << 22)

struct ring {
	uint64_t position;       /* index of the slot that comes next */
	uint64_t last_ticks;     /* of the last event; 0: there was none of this thread */
	uint64_t complete_ticks; /* all of its events up to that moment have been taken */
	uint64_t handler_lost;
	uint32_t changes; /* owner_changes; 0: the ring has not been looked at */
	uint32_t tid;
};

struct area_rings {
	int fd;
	uint64_t rings_offset, ring_bytes, slots_offset, capacity;
	uint64_t shift_ns; /* of time stamps that are of the process's CLOCK_MONOTONIC; else 0 */
	struct ring *rings;
	uint32_t count, array_capacity;
	uint32_t next;       /* where the next call begins, for the sake of those that the last one did not reach */
	uint64_t last_until; /* the moment of the last call */
	uint64_t skip_ticks;
	uint64_t fullest; /* slots that the last call took of one */
	uint64_t budget;  /* slots that this call may still copy */
	bool has_more;
	unsigned char payload[PINCHTRACE_PAYLOAD_MAX];
	struct pinchtrace_slot slots[CHUNK_SLOTS];
};

/* One call's look at one ring. */
struct look {
	struct area_rings *rings;
	struct ring *ring;
	const struct area_listener *listener; /* NULL: up to skip_ticks, and all of that is dropped */
	uint64_t offset;                      /* of the ring */
	uint64_t lost;                        /* slots before the event that comes next */
	uint64_t until_ticks;
	bool is_stopped;
};

struct area_rings *area_rings_new(int fd, const struct pinchtrace_header *header)
{
	struct area_rings *rings = xcalloc(1, sizeof(*rings));

	rings->fd = fd;
	rings->rings_offset = header->rings_offset;
	rings->ring_bytes = header->ring_bytes;
	rings->slots_offset = header->slots_offset;
	rings->capacity = header->ring_capacity;
	if (header->clock == PINCHTRACE_CLOCK_MONOTONIC)
		rings->shift_ns = (uint64_t)header->shift_ns;
	return rings;
}

void area_rings_free(struct area_rings *rings)
{
	if (rings)
		free(rings->rings);
	free(rings);
}

static int64_t distance(uint64_t from, uint64_t to)
{
	return (int64_t)(to - from);
}

/* Slots [first, end), CHUNK_SLOTS at most, of which the ring may have its end in between. */
static int read_slots(const struct look *look, uint64_t first, uint64_t end)
{
	struct area_rings *rings = look->rings;
	uint64_t at = first & (rings->capacity - 1), count = end - first, offset = look->offset + rings->slots_offset;
	uint64_t before_end = count < rings->capacity - at ? count : rings->capacity - at;
	int err;

	err = area_read(rings->fd, rings->slots, before_end * sizeof(*rings->slots),
			offset + at * sizeof(*rings->slots));
	if (!err && before_end < count)
		err = area_read(rings->fd, rings->slots + before_end, (count - before_end) * sizeof(*rings->slots),
				offset);
	return err;
}

static void report_lost(struct look *look, uint64_t before_ticks)
{
	const struct ring *ring = look->ring;
	uint64_t from_ticks = ring->last_ticks, skip_ticks = look->rings->skip_ticks;

	if (look->lost && before_ticks > skip_ticks)
		look->listener->on_lost(look->listener->data, ring->tid,
					from_ticks > skip_ticks ? from_ticks : skip_ticks, before_ticks, look->lost);
	look->lost = 0;
}

/* False: the look ends before this event. */
static bool take_event(struct look *look, const struct pinchtrace_slot *slot, uint32_t payload_bytes)
{
	struct area_rings *rings = look->rings;
	struct ring *ring = look->ring;
	uint64_t here = slot->time - rings->shift_ns;
	/* Counters of several sockets need not agree. */
	uint64_t ticks = here > ring->last_ticks ? here : ring->last_ticks;
	struct area_event event = {
		.ticks = ticks,
		.tid = ring->tid,
		.subsystem = slot->subsystem,
		.event = slot->event,
		.argument = slot->argument,
		.payload = payload_bytes ? rings->payload : NULL,
		.payload_bytes = payload_bytes,
	};

	if (!look->listener && ticks >= rings->skip_ticks)
		return false;
	if (look->listener) {
		report_lost(look, ticks);
		if (ticks >= rings->skip_ticks)
			look->listener->on_event(look->listener->data, &event);
	}
	look->lost = 0;
	ring->last_ticks = ticks;
	return true;
}

/*
 * Takes the events among the copied slots [first, end), the first of which is at slots, up to one of which slots are
 * missing. The ring's position is behind the last one; look->lost slots behind that are none.
 */
static void take_events(struct look *look, const struct pinchtrace_slot *slots, uint64_t first, uint64_t end,
			bool is_last)
{
	uint32_t slot_count, payload_bytes;
	enum slots_verdict verdict;
	uint64_t at = first;

	while (at != end) {
		verdict = slots_read(slots + (at - first), end - at, is_last, &slot_count, look->rings->payload,
				     &payload_bytes);
		if (verdict == SLOTS_CUT)
			return;
		if (verdict == SLOTS_BAD) {
			look->lost++;
			at++;
			continue;
		}
		look->is_stopped = !take_event(look, slots + (at - first), payload_bytes);
		if (look->is_stopped)
			return;
		at += slot_count;
		look->ring->position = at;
	}
}

/* Takes all up to head, in chunks. owner: what the ring's header said before. */
static int take_slots(struct look *look, const struct pinchtrace_ring *owner)
{
	struct area_rings *rings = look->rings;
	uint64_t head = owner->head, at = look->ring->position, first, end, whole;
	struct pinchtrace_ring after;
	int err;

	while (distance(at, head) > 0 && !look->is_stopped) {
		if (!rings->budget) {
			rings->has_more = true;
			return 0;
		}
		first = head - at > rings->capacity ? head - rings->capacity : at;
		end = head - first > CHUNK_SLOTS ? first + CHUNK_SLOTS : head;
		rings->budget -= end - first < rings->budget ? end - first : rings->budget;
		err = read_slots(look, first, end);
		/* Pairs with the writer's fence between claim and slots: if a slot is newer, so is claim. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!err)
			err = area_read(rings->fd, &after, sizeof(after), look->offset);
		if (err)
			return err;
		/* Of another thread, perhaps; or what no thread writes. */
		if (after.owner_changes != owner->owner_changes || distance(head, after.claim) < 0)
			return 0;
		whole = distance(first, after.claim) > (int64_t)rings->capacity ? after.claim - rings->capacity : first;
		if (distance(whole, end) < 0)
			whole = end;
		look->lost += whole - at;
		take_events(look, rings->slots + (whole - first), whole, end, end == head);
		at = look->ring->position + look->lost;
	}
	return 0;
}

/* A ring that is looked at for the first time, or that another thread has got. */
static void change_owner(struct look *look, const struct pinchtrace_ring *owner, bool is_first_call)
{
	struct ring *ring = look->ring;

	/* What threads recorded in it and nobody read, since there has been a reader. */
	if (ring->changes || !is_first_call) {
		look->lost = distance(ring->position, owner->begin) > 0 ? owner->begin - ring->position : 0;
		if (look->listener)
			report_lost(look, look->until_ticks);
		look->lost = 0;
	}
	if (!ring->changes)
		ring->complete_ticks = look->rings->last_until;
	ring->changes = owner->owner_changes;
	ring->tid = owner->tid;
	ring->position = owner->begin;
	ring->last_ticks = 0;
}

/* Whether the ring's thread may have an event that is not in it and is older than the look. */
static bool is_writing(const struct pinchtrace_ring *owner)
{
	return owner->state != PINCHTRACE_RING_ENDED && owner->claim != owner->head;
}

/* Up to when all of the ring's events have been taken, with this look. */
static uint64_t ring_until(struct look *look, const struct pinchtrace_ring *owner)
{
	struct ring *ring = look->ring;

	/* What was recorded after the look began is younger than until_ticks. */
	if (ring->position == owner->head && !is_writing(owner))
		ring->complete_ticks = look->until_ticks;
	return ring->last_ticks > ring->complete_ticks ? ring->last_ticks : ring->complete_ticks;
}

static int look_at(struct look *look, uint32_t number, bool is_first_call, uint64_t *until_ticks)
{
	struct area_rings *rings = look->rings;
	struct pinchtrace_ring owner;
	uint64_t count;
	int err;

	look->ring = &rings->rings[number];
	look->offset = rings->rings_offset + number * rings->ring_bytes;
	look->lost = 0;
	look->is_stopped = false;
	err = area_read(rings->fd, &owner, sizeof(owner), look->offset);
	/* Pairs with the writer's release of head. */
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	/* Without a thread: one that gets it records after that. */
	if (err || !owner.owner_changes || owner.owner_changes & 1)
		return err;
	look->ring->handler_lost = owner.lost;
	if (owner.owner_changes != look->ring->changes)
		change_owner(look, &owner, is_first_call);
	count = distance(look->ring->position, owner.head) > 0 ? owner.head - look->ring->position : 0;
	if (count > rings->fullest)
		rings->fullest = count;
	err = take_slots(look, &owner);
	if (err)
		return err;
	if (look->listener) {
		look->ring->position += look->lost;
		report_lost(look, look->until_ticks);
	}
	count = ring_until(look, &owner);
	if (count < *until_ticks)
		*until_ticks = count;
	return 0;
}

static void have_rings(struct area_rings *rings, uint32_t count)
{
	if (count <= rings->count)
		return;
	if (count > rings->array_capacity) {
		rings->array_capacity = count > 2 * rings->array_capacity ? count : 2 * rings->array_capacity;
		rings->rings = xrealloc(rings->rings, rings->array_capacity, sizeof(*rings->rings));
	}
	memset(rings->rings + rings->count, 0, (count - rings->count) * sizeof(*rings->rings));
	rings->count = count;
}

static int take(struct area_rings *rings, uint32_t ring_count, const struct area_listener *listener,
		uint64_t *until_ticks)
{
	bool is_first_call = !rings->last_until;
	struct look look = { .rings = rings, .listener = listener, .until_ticks = *until_ticks };
	uint32_t i;
	int err = 0;

	have_rings(rings, ring_count);
	rings->fullest = 0;
	rings->budget = CALL_SLOTS_MAX;
	rings->has_more = false;
	for (i = 0; i < rings->count && !err; i++)
		err = look_at(&look, (rings->next + i) % rings->count, is_first_call, until_ticks);
	if (rings->has_more)
		rings->next = (rings->next + 1) % rings->count;
	rings->last_until = look.until_ticks;
	return err;
}

int area_rings_take(struct area_rings *rings, uint32_t ring_count, const struct area_listener *listener,
		    uint64_t *until_ticks)
{
	uint64_t end_ticks = *until_ticks;
	int err = take(rings, ring_count, listener, until_ticks);

	/* Of what is skipped, nothing is missing. */
	if (*until_ticks < rings->skip_ticks)
		*until_ticks = rings->skip_ticks < end_ticks ? rings->skip_ticks : end_ticks;
	return err;
}

int area_rings_skip(struct area_rings *rings, uint32_t ring_count, uint64_t before_ticks)
{
	if (before_ticks <= rings->skip_ticks)
		return 0;
	rings->skip_ticks = before_ticks;
	return take(rings, ring_count, NULL, &before_ticks);
}

uint64_t area_rings_lost(const struct area_rings *rings)
{
	uint64_t lost = 0;
	uint32_t i;

	for (i = 0; i < rings->count; i++)
		lost += rings->rings[i].handler_lost;
	return lost;
}

bool area_rings_have_more(const struct area_rings *rings)
{
	return rings->has_more;
}

double area_rings_fill(const struct area_rings *rings)
{
	return rings->fullest < rings->capacity ? (double)rings->fullest / (double)rings->capacity : 1;
}
