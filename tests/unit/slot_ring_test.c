/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/ring/slot_ring.h"
#include "events.h"
#include "shared.h"

/* Two pages, and the slots of another CPU, come before. */
enum { SLOTS = 8, OFFSET = 2 * 4096 + SLOTS * sizeof(struct slot) };

/* The writer's side: what the BPF programs do with a slot ring. */
static struct cpu_counts counts;
static struct slot *slots;
static int map_fd;
static struct slot_ring *ring;

static void begin(uint64_t position)
{
	memset(&counts, 0, sizeof(counts));
	counts.slots_begun = counts.slots_done = counts.slots_read = position;
	map_fd = memfd_create("slots", MFD_CLOEXEC);
	CHECK_EQUAL(ftruncate(map_fd, OFFSET + SLOTS * sizeof(*slots)), 0);
	slots = mmap(NULL, OFFSET + SLOTS * sizeof(*slots), PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	CHECK(slots != MAP_FAILED);
	slots += OFFSET / sizeof(*slots);
	ring = slot_ring_new(map_fd, OFFSET, SLOTS, &counts);
}

static void end(void)
{
	slot_ring_free(ring);
	munmap(slots - OFFSET / sizeof(*slots), OFFSET + SLOTS * sizeof(*slots));
	close(map_fd);
}

/* Each record carries its position as its time. */
static void write_begin(void)
{
	uint64_t at = counts.slots_begun++;

	CHECK_THAT(at - counts.slots_read, <, SLOTS);
	memset(&slots[at % SLOTS], 0xa5, sizeof(*slots));
}

static void write_end(enum event_id id)
{
	uint64_t at = counts.slots_done++;
	struct ev_header *header = (struct ev_header *)&slots[at % SLOTS];

	*header = (struct ev_header){ .time_ns = at, .subsys = id >> 16, .event = id & 0xffff };
}

static void write_records(uint32_t count)
{
	while (count--) {
		write_begin();
		write_end(counts.slots_done % 3 ? EV_SCHED_SWITCH : EV_SCHED_WAKE);
	}
}

static struct {
	uint64_t next; /* position of the next record */
	uint32_t count, at_most;
} seen;

static int on_record(void *data, const void *record, size_t size_bytes)
{
	const struct ev_header *header = record;
	bool is_wake = header->event == TRACE_EVENT_SCHED_WAKE;

	CHECK_EQUAL(data, &seen);
	if (seen.count == seen.at_most)
		return -ENOSPC;
	CHECK_EQUAL(header->time_ns, seen.next);
	CHECK_EQUAL(header->subsys, TRACE_SUBSYS_SCHED);
	CHECK_EQUAL(is_wake, seen.next % 3 == 0);
	CHECK_EQUAL(size_bytes, (is_wake ? sizeof(struct ev_sched_wake) : sizeof(struct ev_sched_switch)));
	seen.next++;
	seen.count++;
	return 0;
}

/* Whether the drain found the ring complete. */
static bool drain(uint32_t at_most)
{
	seen.count = 0;
	seen.at_most = at_most;
	return slot_ring_drain(ring, on_record, &seen);
}

TEST(records_come_in_their_order_and_once)
{
	begin(0);
	seen.next = 0;
	CHECK(drain(100));
	CHECK_EQUAL(seen.count, 0);
	write_records(5);
	CHECK(drain(100));
	CHECK_EQUAL(seen.count, 5);
	CHECK_EQUAL(counts.slots_read, 5);
	CHECK(drain(100));
	CHECK_EQUAL(seen.count, 0);
	write_records(1);
	CHECK(drain(100));
	CHECK_EQUAL(seen.count, 1);
	end();
}

TEST(a_refused_record_stays_in_the_ring)
{
	begin(0);
	seen.next = 0;
	write_records(SLOTS);
	CHECK(!drain(3));
	CHECK_EQUAL(seen.count, 3);
	CHECK_EQUAL(counts.slots_read, 3);
	CHECK(!drain(0));
	CHECK_EQUAL(counts.slots_read, 3);
	write_records(3);
	CHECK(drain(100));
	CHECK_EQUAL(seen.count, SLOTS);
	CHECK_EQUAL(counts.slots_read, SLOTS + 3);
	end();
}

TEST(a_record_that_is_being_written_is_not_read_and_makes_the_ring_incomplete)
{
	begin(0);
	seen.next = 0;
	write_records(2);
	write_begin();
	CHECK(!drain(100));
	CHECK_EQUAL(seen.count, 2);
	CHECK(!drain(100));
	CHECK_EQUAL(seen.count, 0);
	CHECK_EQUAL(counts.slots_read, 2);
	write_end(EV_SCHED_SWITCH);
	CHECK(drain(100));
	CHECK_EQUAL(seen.count, 1);
	end();
}

TEST(a_cancelled_record_leaves_the_ring_complete)
{
	begin(0);
	seen.next = 0;
	write_begin();
	CHECK(!drain(100));
	counts.slots_begun = counts.slots_done;
	CHECK(drain(100));
	CHECK_EQUAL(seen.count, 0);
	end();
}

static int refuse_after_end(void *data, const void *record, size_t size_bytes)
{
	(void)data;
	(void)record;
	(void)size_bytes;
	write_begin();
	write_end(EV_SCHED_SWITCH);
	return seen.count++ == 2 ? -ENOSPC : 0;
}

TEST(what_is_written_while_a_drain_goes_on_is_left_for_the_next)
{
	begin(1);
	seen.count = 10;
	write_records(3);
	CHECK(slot_ring_drain(ring, refuse_after_end, NULL));
	CHECK_EQUAL(seen.count, 13);
	CHECK_EQUAL(counts.slots_read, 4);
	CHECK_EQUAL(counts.slots_done, 7);
	end();
}

/* How often the slots are mapped, by the test itself included. */
static int count_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[512];
	int count = 0;

	while (fgets(line, sizeof(line), file))
		count += strstr(line, "memfd:slots") != NULL;
	fclose(file);
	return count;
}

static int count_while_read(void *data, const void *record, size_t size_bytes)
{
	(void)record, (void)size_bytes;
	*(int *)data = count_mappings();
	return 0;
}

TEST(slots_are_mapped_only_while_they_are_read)
{
	int count = 0;

	begin(0);
	CHECK_EQUAL(count_mappings(), 1);
	write_records(3);
	CHECK(slot_ring_drain(ring, count_while_read, &count));
	CHECK_EQUAL(count, 2);
	CHECK_EQUAL(count_mappings(), 1);
	end();
}

TEST(positions_wrap_around_the_slots_and_at_2_to_the_64)
{
	for (uint64_t before = 0; before < 3 * SLOTS; before++) {
		begin(-before);
		seen.next = -before;
		for (uint32_t i = 0; i < 40; i++) {
			uint32_t count = (i * 5 + before) % (SLOTS + 1);

			write_records(count);
			if (i % 3 == 0 && count < SLOTS) {
				write_begin();
				CHECK(!drain(100));
				CHECK_EQUAL(seen.count, count);
				counts.slots_begun--;
			} else if (count) {
				CHECK(!drain(count - 1));
				CHECK_EQUAL(seen.count, count - 1);
				CHECK(drain(1));
				CHECK_EQUAL(seen.count, 1);
			}
			CHECK(drain(0));
			CHECK_EQUAL(counts.slots_read, counts.slots_done);
		}
		CHECK_THAT(counts.slots_read, <, 1000);
		end();
	}
}

TEST(the_fill_counts_all_that_was_not_read)
{
	begin(-2ull);
	seen.next = -2ull;
	CHECK_EQUAL(slot_ring_fill(ring), 0);
	write_records(4);
	CHECK_EQUAL(slot_ring_fill(ring), 0.5);
	/* So that the end of a run waits for it. */
	write_begin();
	CHECK_EQUAL(slot_ring_fill(ring), 5.0 / SLOTS);
	write_end(EV_SCHED_SWITCH);
	seen.next = -2ull;
	drain(1);
	CHECK_EQUAL(slot_ring_fill(ring), 0.5);
	end();
}
