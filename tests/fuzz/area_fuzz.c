/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An area with events is changed as the bytes say: before it is opened, and while it is read. Each change is a place and a
 * number to be there; the file may be cut off, too. Whatever the area says then, events of a ring are in order of time and
 * have payloads as long as the format allows, and each call ends.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "area/area.h"
#include "input.h"

enum {
	CAPACITY = 256,
	RINGS = 3,
	CONTROL_AT = 1024,
	SWITCHES_AT = 4096,
	SCHEMA_AT = SWITCHES_AT + PINCHTRACE_SUBSYSTEMS,
	SCHEMA_BYTES = 4096,
	RINGS_AT = SCHEMA_AT + SCHEMA_BYTES,
	SLOTS_AT = 256,
	RING_BYTES = SLOTS_AT + CAPACITY * PINCHTRACE_SLOT_BYTES,
	AREA_BYTES = RINGS_AT + RINGS * RING_BYTES,
	NOW = 1000000,
};

struct seen {
	uint64_t last_ticks;
	uint32_t steps_back; /* each ring but the first may begin earlier than the one before it ended */
	uint32_t payload_sum;
};

/* Events, every eleventh with a payload of two slots. */
static void write_ring(unsigned char *ring_at, uint32_t number)
{
	struct pinchtrace_ring ring = { .state = PINCHTRACE_RING_LIVE, .owner_changes = 2, .tid = 100 + number };
	struct pinchtrace_slot slot = { .subsystem = 1, .event = 2 };
	struct pinchtrace_more more = { 1, 0, 2 };
	unsigned char *at = ring_at + SLOTS_AT;
	uint32_t i;

	ring.claim = ring.head = 100 + 150 * number;
	for (i = 0; i < CAPACITY; i++, at += sizeof(slot)) {
		slot.time = 1000 + i;
		slot.argument = i;
		more.mark = PINCHTRACE_MORE | (i % 11 == 1) << 16 | 20;
		if (i % 11 == 1 || i % 11 == 2)
			memcpy(at, &more, sizeof(more));
		else
			memcpy(at, &slot, sizeof(slot));
	}
	memcpy(ring_at, &ring, sizeof(ring));
}

static void write_area(unsigned char *bytes)
{
	static const char schema[] = "{\"1\": {\"name\": \"net\"}}\0{\"2\": {}}";
	struct pinchtrace_header header = {
		.magic = PINCHTRACE_MAGIC,
		.version = PINCHTRACE_VERSION,
		.header_bytes = sizeof(header),
		.pid = 1,
		.clock = PINCHTRACE_CLOCK_MONOTONIC,
		.area_bytes = AREA_BYTES,
		.control_offset = CONTROL_AT,
		.switches_offset = SWITCHES_AT,
		.schema_offset = SCHEMA_AT,
		.schema_bytes_max = SCHEMA_BYTES,
		.rings_offset = RINGS_AT,
		.ring_bytes = RING_BYTES,
		.slots_offset = SLOTS_AT,
		.ring_capacity = CAPACITY,
		.ring_count_max = RINGS,
		.program = "program",
		.ring_count = RINGS,
		.schema_bytes = sizeof(schema),
	};
	uint32_t i;

	memset(bytes, 0, AREA_BYTES);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + SCHEMA_AT, schema, sizeof(schema));
	for (i = 0; i < RINGS; i++)
		write_ring(bytes + RINGS_AT + i * RING_BYTES, i);
}

/* The parts that say where others are come more often than slots. */
static void change(struct input *input, int fd)
{
	uint32_t kind = take_number(input, 1), at = take_number(input, 2),
		 ring = RINGS_AT + kind / 8 % RINGS * RING_BYTES;
	uint64_t value = 0;
	uint32_t width = 1u << kind % 4;

	take(input, &value, width);
	if (kind >= 252 && ftruncate(fd, at * (uint64_t)(kind - 251)))
		abort();
	switch (kind / 4 % 2 + kind / 64 % 2) {
	case 0:
		at %= sizeof(struct pinchtrace_header);
		break;
	case 1:
		at = ring + at % sizeof(struct pinchtrace_ring);
		break;
	default:
		at = ring + at % RING_BYTES;
	}
	if (pwrite(fd, &value, width, at) != (ssize_t)width)
		abort();
}

static void change_some(struct input *input, int fd)
{
	uint32_t i, count = take_number(input, 1) % 8;

	for (i = 0; i < count && input->size; i++)
		change(input, fd);
}

static void on_event(void *data, const struct area_event *event)
{
	const unsigned char *payload = event->payload;
	struct seen *seen = data;
	uint32_t i;

	if (event->payload_bytes > PINCHTRACE_PAYLOAD_MAX || !event->payload != !event->payload_bytes ||
	    event->ticks >> 63)
		abort();
	seen->steps_back += event->ticks < seen->last_ticks;
	if (seen->steps_back >= RINGS)
		abort();
	seen->last_ticks = event->ticks;
	for (i = 0; i < event->payload_bytes; i++)
		seen->payload_sum += payload[i];
}

static void on_lost(void *data, uint32_t tid, uint64_t from_ticks, uint64_t before_ticks, uint64_t slots)
{
	(void)data, (void)tid, (void)from_ticks, (void)before_ticks;
	if (!slots)
		abort();
}

static void on_text(void *data, const char *text, size_t length)
{
	(void)data;
	if (strlen(text) != length)
		abort();
}

static void read_area(struct area *area, struct input *input, int fd)
{
	struct seen seen = { 0 };
	struct area_listener listener = { on_event, on_lost, &seen };
	uint64_t until;
	int err = 0, i;

	for (i = 0; i < 4 && !err; i++) {
		until = NOW + i;
		err = area_schemas(area, on_text, NULL);
		if (!err)
			err = area_take(area, &listener, &until);
		if (until > NOW + (uint64_t)i || !(area_fill(area) >= 0 && area_fill(area) <= 1))
			abort();
		if (i == 1)
			area_skip(area, take_number(input, 2));
		seen = (struct seen){ 0 };
		change_some(input, fd);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	static unsigned char sound[AREA_BYTES];
	struct input input = { bytes, size_bytes };
	int fd = memfd_create("area", MFD_CLOEXEC);
	struct area *area;

	if (!sound[0])
		write_area(sound);
	if (fd < 0 || write(fd, sound, AREA_BYTES) != AREA_BYTES)
		abort();
	change_some(&input, fd);
	if (area_open(fd, &area)) {
		close(fd);
		return 0;
	}
	read_area(area, &input, fd);
	area_close(area);
	return 0;
}
