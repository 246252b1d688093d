/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces of a flight recorder: whatever ends the writer, and whatever is damaged, what is read begins with
 * what was repeated at a moment and goes on with all events from there, and that is most of the ring.
 */
#include "test.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/trace_reader.h"
#include "trace/trace_ring.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"

enum {
	EVENTS = 6000,
	RING_BYTES = 256 << 10,
	PROLOGUE_MAX = 20,
	FRAME_BYTES = 8 << 10, /* what is in the file besides the ring, except for the index */
	KILLS = 200,
};

static uint64_t time_step_ns;

static void make_events(uint64_t seed, size_t count)
{
	uint64_t time_ns = 1000;

	trace_begin();
	trace_seed = seed;
	for (size_t i = 0; i < count; i++)
		trace_note(trace_make_event(time_ns += 1 + trace_below(time_step_ns)));
}

/* What stands for all that a reader must know who begins with event i. */
static void repeat(struct trace_writer *writer, size_t i)
{
	uint32_t count = 1 + i % PROLOGUE_MAX;

	trace_writer_begin_epoch(writer);
	for (uint32_t k = 0; k < count; k++)
		trace_writer_repeat(writer,
				    &(struct ev_collect_gap){
					    .header = { .time_ns = trace_event(i)->time_ns,
							.subsys = TRACE_SUBSYS_COLLECT,
							.event = TRACE_EVENT_COLLECT_GAP },
					    .lost = i,
					    .cpu = k,
					    .reserved = count,
				    }
					     .header);
	trace_writer_end_prologue(writer);
}

static void write_event(struct trace_writer *writer, size_t i)
{
	if (trace_writer_wants_epoch(writer))
		repeat(writer, i);
	trace_writer_event(writer, trace_event(i));
	if (i % 16 == 0)
		trace_writer_flush(writer, UINT64_MAX, 0);
}

static struct trace_writer *open_ring(uint64_t size_bytes, uint64_t last_ns)
{
	struct trace_ring_options options = { size_bytes, last_ns };
	struct trace_writer *writer;

	CHECK(!trace_writer_open_ring(trace_path, &options, &writer));
	trace_writer_chunk(writer, TRACE_CHUNK_INFO, "{}", 2, NULL);
	return writer;
}

static uint64_t file_bytes(void)
{
	struct stat status;

	CHECK(!stat(trace_path, &status));
	return status.st_size;
}

/* --- What is read --------------------------------------------------------------------------- */

struct reading {
	size_t begin, end; /* of the events */
	size_t damaged;
	uint64_t stored_bytes; /* of chunks with events */
	struct trace_extent extent;
};

/* The first event, and all that is repeated with it; returns the number of the first event to come. */
static size_t read_prologue(struct trace_reader *reader)
{
	const struct ev_collect_gap *e;
	const struct ev_header *header;
	uint32_t count = 1;
	size_t begin = 0;

	for (uint32_t k = 0; k < count; k++) {
		CHECK_EQUAL(trace_reader_next(reader, &header), 1);
		CHECK_EQUAL(header->event, TRACE_EVENT_COLLECT_GAP);
		e = (const struct ev_collect_gap *)header;
		CHECK_EQUAL(e->cpu, k);
		CHECK((!k || e->lost == begin));
		begin = e->lost;
		count = e->reserved;
	}
	CHECK_EQUAL(count, 1 + begin % PROLOGUE_MAX);
	return begin;
}

static uint64_t stored_bytes(const struct trace_reader *reader)
{
	uint64_t size_bytes = 0;
	size_t count;
	const struct trace_place *places = trace_reader_places(reader, &count);
	struct trace_chunk chunk;
	FILE *file = fopen(trace_path, "r");

	for (size_t i = 0; i < count; i++) {
		if (places[i].kind != TRACE_CHUNK_EVENTS)
			continue;
		CHECK(!fseek(file, places[i].offset, SEEK_SET));
		CHECK_EQUAL(fread(&chunk, sizeof(chunk), 1, file), 1);
		size_bytes += sizeof(chunk) + chunk.stored_bytes;
	}
	fclose(file);
	return size_bytes;
}

/* All events from the beginning on are there but in damaged places, where some are missing. */
static struct reading read_late(const char *path, unsigned int eighths)
{
	struct reading reading = { 0 };
	const struct ev_header *header;
	struct trace_reader *reader;
	int result;

	CHECK(!trace_reader_open_late(path, eighths, &reader));
	reading.extent = *trace_reader_extent(reader);
	if (reading.extent.begins_late)
		reading.begin = read_prologue(reader);
	reading.end = reading.begin;
	while ((result = trace_reader_next(reader, &header))) {
		if (result < 0) {
			reading.damaged++;
			continue;
		}
		while (reading.damaged && reading.end < trace_written.count && !trace_is_written(reading.end, header))
			reading.end++;
		CHECK(trace_is_written(reading.end++, header));
	}
	if (!strcmp(path, trace_path))
		reading.stored_bytes = stored_bytes(reader);
	trace_reader_close(reader);
	return reading;
}

static struct reading read_ring(const char *path)
{
	return read_late(path, 0);
}

/* --- Room ----------------------------------------------------------------------------------- */

TEST(a_ring_that_has_not_turned_has_all_from_the_beginning)
{
	struct trace_writer *writer;
	struct reading reading;

	time_step_ns = 1000;
	make_events(1, 200);
	writer = open_ring(4 << 20, 0);
	for (size_t i = 0; i < trace_written.count; i++)
		write_event(writer, i);
	CHECK(!trace_writer_close(writer));
	reading = read_ring(trace_path);
	CHECK(!reading.extent.begins_late && reading.extent.is_ended && !reading.damaged);
	CHECK(!reading.begin);
	CHECK_EQUAL(reading.end, trace_written.count);
	CHECK_THAT(file_bytes(), <, 1 << 20);
	trace_end();
}

TEST(a_ring_that_has_turned_has_most_of_its_bytes_and_never_more)
{
	struct trace_writer *writer;
	struct reading reading;
	uint64_t total_bytes = 0;

	time_step_ns = 1000;
	make_events(2, EVENTS);
	for (uint64_t seed = 0; seed < 10; seed++) {
		trace_seed = seed;
		writer = open_ring(RING_BYTES, 0);
		for (size_t i = 0; i < trace_written.count - seed * 37; i++) {
			write_event(writer, i);
			if (i % 64 == 0)
				CHECK_THAT(file_bytes(), <=, RING_BYTES + FRAME_BYTES);
		}
		CHECK(!trace_writer_close(writer));
		CHECK_THAT(file_bytes(), <=, RING_BYTES + 2 * FRAME_BYTES);
		reading = read_ring(trace_path);
		CHECK(reading.extent.begins_late && reading.extent.is_ended && !reading.damaged);
		CHECK_EQUAL(reading.end, trace_written.count - seed * 37);
		CHECK_THAT(reading.stored_bytes, >=, RING_BYTES / 4 * 3);
		total_bytes += reading.stored_bytes;
	}
	print_message("%.0f %% of the ring are kept\n", total_bytes / 10.0 / RING_BYTES * 100);
	trace_end();
}

TEST(a_ring_can_be_read_without_its_oldest_part_and_from_there_on_whole)
{
	struct trace_writer *writer;
	struct reading whole, reading;
	size_t begin;

	time_step_ns = 1000;
	make_events(2, EVENTS);
	writer = open_ring(RING_BYTES, 0);
	for (size_t i = 0; i < trace_written.count; i++)
		write_event(writer, i);
	CHECK(!trace_writer_close(writer));
	whole = read_ring(trace_path);
	begin = whole.begin;
	for (unsigned int eighths = 1; eighths <= 4; eighths++) {
		reading = read_late(trace_path, eighths);
		CHECK(reading.extent.begins_late && !reading.damaged);
		CHECK_EQUAL(reading.end, trace_written.count);
		CHECK_THAT(reading.begin, >=, begin);
		CHECK_THAT(reading.begin, <=, begin + (trace_written.count - whole.begin) / 4);
		begin = reading.begin;
	}
	CHECK_THAT(begin, >, whole.begin + (trace_written.count - whole.begin) / 4);
	CHECK_THAT(begin, <=, whole.begin + (trace_written.count - whole.begin) / 8 * 5);
	trace_end();
}

TEST(times_of_a_ring_can_count_from_an_event_that_is_overwritten)
{
	struct trace_writer *writer;
	struct trace_reader *reader;
	uint64_t first_ns;

	time_step_ns = 1000;
	make_events(2, EVENTS);
	first_ns = trace_event(0)->time_ns;
	writer = open_ring(RING_BYTES, 0);
	for (size_t i = 0; i < trace_written.count; i++)
		write_event(writer, i);
	CHECK(!trace_writer_close(writer));
	CHECK(!trace_reader_open(trace_path, &reader));
	CHECK_THAT(trace_reader_extent(reader)->first_ns, >, first_ns);
	trace_reader_count_from(reader, first_ns);
	CHECK_EQUAL(trace_reader_extent(reader)->first_ns, first_ns);
	CHECK(!trace_reader_grow(reader));
	CHECK_EQUAL(trace_reader_extent(reader)->first_ns, first_ns);
	trace_reader_close(reader);
	trace_end();
}

TEST(a_ring_by_time_has_that_time_and_little_more)
{
	enum { LAST_NS = 500000 };
	struct trace_writer *writer;
	struct reading reading;
	uint64_t end_ns, begin_ns, whole_bytes;

	time_step_ns = 1000;
	make_events(3, EVENTS);
	writer = open_ring(0, LAST_NS);
	for (size_t i = 0; i < trace_written.count; i++)
		write_event(writer, i);
	CHECK(!trace_writer_close(writer));
	reading = read_ring(trace_path);
	CHECK(reading.extent.begins_late && !reading.damaged);
	CHECK_EQUAL(reading.end, trace_written.count);
	end_ns = trace_event(EVENTS - 1)->time_ns;
	begin_ns = trace_event(reading.begin)->time_ns;
	CHECK_THAT(end_ns - begin_ns, >=, LAST_NS);
	CHECK_THAT(end_ns - begin_ns, <, LAST_NS + LAST_NS / 4);
	whole_bytes = file_bytes();
	CHECK_THAT(whole_bytes, <, 20 << 20);
	trace_end();
}

/* The rate of events rises and falls: the file has what the busiest such time needs. */
TEST(a_file_by_time_does_not_grow_when_it_is_large_enough)
{
	enum { LAST_NS = 40000000, ROUNDS = 40 };
	uint64_t noise[512], grown_bytes[ROUNDS], time_ns = 1, busy;
	struct ev_space_python_code *e = calloc(1, sizeof(*e) + sizeof(noise));
	struct trace_writer *writer;

	trace_begin();
	trace_seed = 4;
	e->header.subsys = TRACE_SUBSYS_SPACE;
	e->header.event = TRACE_EVENT_SPACE_PYTHON_CODE;
	e->function_bytes = 1;
	e->table_bytes = sizeof(noise) - 1;
	writer = open_ring(0, LAST_NS);
	for (int round = 0; round < ROUNDS; round++) {
		busy = round % 10 == 3 ? 1 : 8;
		for (int i = 0; i < 1000; i++) {
			for (size_t k = 0; k < sizeof(noise) / sizeof(*noise); k++)
				noise[k] = trace_draw() << 40 ^ trace_draw();
			memcpy(e->function, noise, sizeof(noise));
			e->function[0] = 0;
			e->header.time_ns = time_ns += busy * 10000;
			if (trace_writer_wants_epoch(writer)) {
				trace_writer_begin_epoch(writer);
				trace_writer_repeat(writer, &e->header);
				trace_writer_end_prologue(writer);
			}
			trace_writer_event(writer, &e->header);
		}
		grown_bytes[round] = trace_writer_counts(writer).file_bytes;
	}
	CHECK_EQUAL(grown_bytes[ROUNDS - 1], grown_bytes[20]);
	/* 8 MB a burst, and 6 MB in the rest of the time. */
	CHECK_THAT(grown_bytes[ROUNDS - 1], <, 40 << 20);
	CHECK(!trace_writer_close(writer));
	free(e);
	trace_end();
}

TEST(an_event_that_no_segment_has_space_for_is_missed_and_no_other)
{
	size_t size_bytes = RING_BYTES / 8;
	struct ev_space_python_code *e = calloc(1, sizeof(*e) + size_bytes);
	struct trace_writer *writer;
	struct reading reading;

	time_step_ns = 1000;
	make_events(5, 500);
	e->header.subsys = TRACE_SUBSYS_SPACE;
	e->header.event = TRACE_EVENT_SPACE_PYTHON_CODE;
	e->function_bytes = 1;
	e->table_bytes = size_bytes - 1;
	for (size_t i = 1; i < size_bytes; i++)
		e->function[i] = trace_draw();
	writer = open_ring(RING_BYTES, 0);
	for (size_t i = 0; i < trace_written.count; i++) {
		write_event(writer, i);
		if (i != 400)
			continue;
		trace_writer_flush(writer, UINT64_MAX, 0);
		trace_writer_event(writer, &e->header);
		trace_writer_flush(writer, UINT64_MAX, 0);
	}
	CHECK(!trace_writer_close(writer));
	reading = read_ring(trace_path);
	CHECK_EQUAL(reading.damaged, 1);
	CHECK_EQUAL(reading.end, trace_written.count);
	free(e);
	trace_end();
}

/* --- Damage --------------------------------------------------------------------------------- */

TEST(a_ring_that_is_damaged_begins_with_what_is_whole)
{
	char damaged[128], *bytes, *whole;
	struct trace_writer *writer;
	size_t size_bytes, late = 0;
	FILE *file;

	time_step_ns = 1000;
	make_events(6, EVENTS);
	writer = open_ring(RING_BYTES, 0);
	for (size_t i = 0; i < trace_written.count; i++)
		write_event(writer, i);
	CHECK(!trace_writer_close(writer));
	size_bytes = file_bytes();
	whole = malloc(size_bytes);
	bytes = malloc(size_bytes);
	file = fopen(trace_path, "r");
	CHECK_EQUAL(fread(whole, 1, size_bytes, file), size_bytes);
	CHECK(!fclose(file));
	snprintf(damaged, sizeof(damaged), "%s.bad", trace_path);
	for (int round = 0; round < 300; round++) {
		size_t cut = trace_below(3) ? size_bytes : size_bytes - trace_below(size_bytes / 2);

		memcpy(bytes, whole, size_bytes);
		for (uint64_t i = 1 + trace_below(20); i; i--)
			bytes[sizeof(struct trace_header) + trace_below(size_bytes - sizeof(struct trace_header))] ^=
				1 + trace_below(255);
		file = fopen(damaged, "w");
		CHECK_EQUAL(fwrite(bytes, 1, cut, file), cut);
		CHECK(!fclose(file));
		late += read_ring(damaged).extent.begins_late;
	}
	CHECK_THAT(late, >, 290);
	CHECK(!unlink(damaged));
	free(bytes);
	free(whole);
	trace_end();
}

/* --- Writers that are killed ---------------------------------------------------------------- */

static void write_all(_Atomic size_t *flushed)
{
	struct trace_writer *writer = open_ring(RING_BYTES, 0);

	for (size_t i = 0; i < trace_written.count; i++) {
		write_event(writer, i);
		if (i % 16 == 0)
			atomic_store(flushed, i + 1);
	}
}

TEST(whenever_the_writer_is_killed_most_of_the_ring_is_read)
{
	const char *wanted = getenv("PINCH_KILLS");
	struct reading reading;
	size_t before;

	time_step_ns = 1000;
	make_events(7, EVENTS);
	for (int i = wanted ? atoi(wanted) : KILLS; i; i--) {
		before = trace_kill_writer(write_all, 1 + trace_below(EVENTS - 100), trace_below(20000));
		reading = read_ring(trace_path);
		CHECK_THAT(reading.end, >=, before);
		CHECK(!reading.damaged && !reading.extent.is_ended);
		CHECK(!reading.begin || reading.stored_bytes >= RING_BYTES / 4 * 3);
		CHECK_THAT(file_bytes(), <=, RING_BYTES + FRAME_BYTES);
	}
	trace_end();
}
