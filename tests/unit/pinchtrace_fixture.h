/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reader of areas, written from lib/pinchtrace_format.h alone. */
#pragma once

#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "pinchtrace_programs.h"

/* --- Reading an area --------------------------------------------------------------------- */

struct area {
	unsigned char *base;
	size_t size_bytes;
	const struct pinchtrace_header *header;
};

struct read_event {
	uint64_t index, time;
	uint16_t subsystem, event;
	uint32_t argument;
	uint32_t slot_count, payload_bytes;
	unsigned char payload[PINCHTRACE_PAYLOAD_MAX];
};

struct snapshot {
	uint32_t tid, state;
	uint64_t begin, head;   /* of the ring */
	uint64_t first_index;   /* of the first whole event's slot, or head */
	uint64_t missing_count; /* slots between begin and the first whole event */
	size_t event_count;
	struct read_event *events;
};

static inline void snapshot_free(struct snapshot *snapshot)
{
	free(snapshot->events);
	snapshot->events = NULL;
}

/* Whether all that the header says lies in the file. */
static inline bool area_is_sound(const struct area *area)
{
	const struct pinchtrace_header *header = area->header;

	return area->size_bytes >= sizeof(*header) && header->magic == PINCHTRACE_MAGIC &&
	       header->version == PINCHTRACE_VERSION && header->header_bytes >= sizeof(*header) &&
	       header->area_bytes <= area->size_bytes &&
	       header->control_offset + sizeof(struct pinchtrace_control) <= header->area_bytes &&
	       header->switches_offset + PINCHTRACE_SUBSYSTEMS <= header->area_bytes &&
	       header->schema_offset + header->schema_bytes_max <= header->area_bytes &&
	       header->schema_bytes <= header->schema_bytes_max && header->ring_count_max <= PINCHTRACE_RINGS_MAX &&
	       header->ring_count <= header->ring_count_max && header->ring_capacity >= PINCHTRACE_CAPACITY_MIN &&
	       header->ring_capacity <= PINCHTRACE_CAPACITY_MAX &&
	       !(header->ring_capacity & (header->ring_capacity - 1)) &&
	       header->ring_bytes >= header->slots_offset + header->ring_capacity * UINT64_C(16) &&
	       header->rings_offset + header->ring_count_max * header->ring_bytes <= header->area_bytes;
}

/* -errno when there is none. */
static inline int area_open(struct area *area, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), err;
	struct stat status;

	memset(area, 0, sizeof(*area));
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || status.st_size < 4096) {
		close(fd);
		return -EAGAIN;
	}
	area->size_bytes = status.st_size;
	area->base = mmap(NULL, area->size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	err = area->base == MAP_FAILED ? -errno : 0;
	close(fd);
	area->header = (const struct pinchtrace_header *)area->base;
	if (!err && __atomic_load_n(&area->header->magic, __ATOMIC_ACQUIRE) != PINCHTRACE_MAGIC) {
		munmap(area->base, area->size_bytes);
		err = -EAGAIN;
	}
	return err;
}

static inline void area_close(struct area *area)
{
	munmap(area->base, area->size_bytes);
}

static inline struct pinchtrace_ring *area_ring(const struct area *area, uint32_t number)
{
	return (struct pinchtrace_ring *)(area->base + area->header->rings_offset + number * area->header->ring_bytes);
}

/* How many slots the event has that begins there; 0: it is none, or not all of it is there. */
static inline uint32_t event_slots(const struct pinchtrace_slot *slots, size_t count)
{
	uint32_t mark = count > 1 ? slots[1].time >> 32 : 0, expected;

	if (slots[0].time >> 63)
		return 0;
	if (!(mark & PINCHTRACE_MORE))
		return 1;
	expected = 1 + (PINCHTRACE_MORE_SIZE(mark) + PINCHTRACE_MORE_PAYLOAD - 1) / PINCHTRACE_MORE_PAYLOAD;
	CHECK_EQUAL(PINCHTRACE_MORE_FOLLOWING(mark), expected - 2);
	return expected <= count ? expected : 0;
}

static inline void event_read(struct read_event *event, const struct pinchtrace_slot *slots, uint32_t slot_count)
{
	struct pinchtrace_more more;
	unsigned char bytes[PINCHTRACE_MORE_PAYLOAD];

	event->time = slots->time;
	event->subsystem = slots->subsystem;
	event->event = slots->event;
	event->argument = slots->argument;
	event->slot_count = slot_count;
	event->payload_bytes = slot_count > 1 ? PINCHTRACE_MORE_SIZE(slots[1].time >> 32) : 0;
	for (uint32_t i = 1; i < slot_count; i++) {
		uint32_t at = (i - 1) * PINCHTRACE_MORE_PAYLOAD, size = event->payload_bytes - at;

		memcpy(&more, &slots[i], sizeof(more));
		CHECK(more.mark & PINCHTRACE_MORE);
		CHECK_EQUAL(PINCHTRACE_MORE_FOLLOWING(more.mark), slot_count - 1 - i);
		CHECK_EQUAL(PINCHTRACE_MORE_SIZE(more.mark), event->payload_bytes);
		memcpy(bytes, &more.low, 4);
		memcpy(bytes + 4, &more.high, 8);
		memcpy(event->payload + at, bytes, size < sizeof(bytes) ? size : sizeof(bytes));
	}
}

/* The events of a ring that can be had, from an index on. False: the ring changed hands meanwhile, or has had none. */
static inline bool snapshot_take_from(struct snapshot *snapshot, const struct area *area, uint32_t number,
				      uint64_t from)
{
	const struct pinchtrace_ring *ring = area_ring(area, number);
	const struct pinchtrace_slot *slots =
		(const struct pinchtrace_slot *)((const unsigned char *)ring + area->header->slots_offset);
	uint64_t capacity = area->header->ring_capacity, claim, begin;
	uint32_t changes = __atomic_load_n(&ring->owner_changes, __ATOMIC_ACQUIRE);
	struct pinchtrace_slot *copy;
	size_t count, at = 0;

	memset(snapshot, 0, sizeof(*snapshot));
	if (!changes || changes & 1)
		return false;
	snapshot->tid = __atomic_load_n(&ring->tid, __ATOMIC_RELAXED);
	snapshot->state = __atomic_load_n(&ring->state, __ATOMIC_RELAXED);
	snapshot->begin = __atomic_load_n(&ring->begin, __ATOMIC_RELAXED);
	snapshot->head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	begin = snapshot->begin > from ? snapshot->begin : from;
	if (begin > snapshot->head)
		begin = snapshot->head;
	if (snapshot->head - begin > capacity)
		begin = snapshot->head - capacity;
	count = snapshot->head - begin;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; i < count; i++) {
		const uint64_t *slot = (const uint64_t *)&slots[(begin + i) & (capacity - 1)];
		uint64_t words[2] = { __atomic_load_n(&slot[0], __ATOMIC_RELAXED),
				      __atomic_load_n(&slot[1], __ATOMIC_RELAXED) };

		memcpy(&copy[i], words, sizeof(words));
	}
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	claim = __atomic_load_n(&ring->claim, __ATOMIC_RELAXED);
	if (__atomic_load_n(&ring->owner_changes, __ATOMIC_RELAXED) != changes) {
		free(copy);
		return false;
	}
	if (claim - begin > capacity)
		at = claim - capacity - begin;
	while (at < count && copy[at].time >> 63)
		at++;
	if (at > count)
		at = count;
	snapshot->first_index = begin + at;
	snapshot->missing_count = snapshot->first_index - snapshot->begin;
	snapshot->events = calloc(count - at + 1, sizeof(*snapshot->events));
	while (at < count) {
		uint32_t slot_count = event_slots(copy + at, count - at);

		/* A claim takes a whole event, and head does not end within one. */
		CHECK(slot_count);
		snapshot->events[snapshot->event_count].index = begin + at;
		event_read(&snapshot->events[snapshot->event_count++], copy + at, slot_count);
		at += slot_count;
	}
	free(copy);
	return true;
}

static inline bool snapshot_take(struct snapshot *snapshot, const struct area *area, uint32_t number)
{
	return snapshot_take_from(snapshot, area, number, 0);
}

/* The ring that a thread has; -1: none. */
static inline int ring_of(const struct area *area, uint32_t tid)
{
	for (uint32_t i = 0; i < area->header->ring_count; i++)
		if (area_ring(area, i)->tid == tid && area_ring(area, i)->state == PINCHTRACE_RING_LIVE)
			return i;
	return -1;
}

/* This process's own. */
static inline struct area *own_area(void)
{
	static struct area area;
	char path[512] = "";

	if (!area.base) {
		CHECK_EQUAL(mapped_areas(getpid(), path, sizeof(path)), 1);
		CHECK_EQUAL(area_open(&area, path), 0);
		CHECK(area_is_sound(&area));
	}
	return &area;
}
