/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces that are damaged, cut anywhere, or whose writer was killed: what is whole is read, what is not is
 * noticed, and nothing is read that was not written.
 */
#include "test.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include "trace/trace_reader.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"

enum { EVENTS = 300, PLACES_MAX = 128, KILLS = 200 };

/* A trace in memory, and the same with something done to it, as a file. */
static struct {
	char *bytes;
	size_t size_bytes;
	struct trace_place places[PLACES_MAX]; /* where its chunks are, the index excepted */
	size_t count;
	int fd;
	char path[64];
} image;

static size_t file_bytes(void)
{
	struct stat status;

	CHECK(!stat(trace_path, &status));
	return status.st_size;
}

static void image_take(void)
{
	FILE *file = fopen(trace_path, "r");
	struct trace_reader *reader;

	CHECK(file);
	image.size_bytes = file_bytes();
	image.bytes = malloc(image.size_bytes);
	CHECK_EQUAL(fread(image.bytes, 1, image.size_bytes, file), image.size_bytes);
	CHECK(!fclose(file));
	CHECK(!trace_reader_open(trace_path, &reader));
	trace_reader_places(reader, &image.count);
	CHECK_THAT(image.count, <=, PLACES_MAX);
	memcpy(image.places, trace_reader_places(reader, &image.count), image.count * sizeof(*image.places));
	trace_reader_close(reader);
	image.fd = memfd_create("image", MFD_CLOEXEC);
	snprintf(image.path, sizeof(image.path), "/proc/self/fd/%d", image.fd);
}

static void image_begin(uint64_t seed, size_t count)
{
	trace_begin();
	trace_seed = seed;
	CHECK(!trace_writer_close(trace_write(count, 30)));
	image_take();
}

static void image_end(void)
{
	free(image.bytes);
	close(image.fd);
	trace_end();
}

static void image_put(const char *bytes, size_t size_bytes)
{
	CHECK(!ftruncate(image.fd, size_bytes));
	CHECK_EQUAL(pwrite(image.fd, bytes, size_bytes, 0), (ssize_t)size_bytes);
}

/* What a reader makes of it. */
struct reading {
	int error;              /* it was not opened */
	size_t events, damaged; /* damaged: chunks of any kind */
	struct trace_extent extent;
};

static void read_events(struct trace_reader *reader, struct reading *reading)
{
	const struct ev_header *header;
	size_t matching = 0;
	int result;

	while ((result = trace_reader_next(reader, &header))) {
		if (result < 0)
			continue;
		while (matching < trace_written.count && !trace_is_written(matching, header))
			matching++;
		CHECK_THAT(matching++, <, trace_written.count);
		reading->events++;
	}
}

/* In the order of their writing, and none that was not written. */
static struct reading image_read(void)
{
	struct reading reading = { 0 };
	struct trace_reader *reader;
	const void *content;
	size_t count, size_bytes;

	reading.error = trace_reader_open(image.path, &reader);
	if (reading.error)
		return reading;
	reading.extent = *trace_reader_extent(reader);
	read_events(reader, &reading);
	trace_reader_places(reader, &count);
	for (size_t i = 0; i < count; i++)
		reading.damaged += trace_reader_content(reader, i, &content, &size_bytes) != 0;
	trace_reader_close(reader);
	return reading;
}

/* How many events are in the chunk that has a byte. */
static size_t events_at(size_t at)
{
	size_t i = image.count;

	while (i && image.places[i - 1].offset > at)
		i--;
	return i ? image.places[i - 1].count : 0;
}

/* --- Damage --------------------------------------------------------------------------------- */

/* Chunks with events of which each byte is in the file. */
static size_t events_before(size_t size_bytes)
{
	size_t events = 0;

	for (size_t i = 0; i + 1 < image.count && image.places[i + 1].offset <= size_bytes; i++)
		events += image.places[i].count;
	return events;
}

static size_t last_with_events(void)
{
	size_t i = image.count;

	while (!image.places[--i].count)
		;
	return image.places[i].offset;
}

TEST(a_trace_cut_anywhere_has_all_chunks_before)
{
	size_t size_bytes = 0, last;

	image_begin(10, EVENTS);
	last = last_with_events();
	while (size_bytes < image.size_bytes) {
		struct reading reading;

		image_put(image.bytes, size_bytes);
		reading = image_read();
		if (size_bytes < image.places[1].offset) {
			CHECK_EQUAL(reading.error, -EBADMSG);
		} else {
			CHECK(!reading.error && !reading.damaged);
			CHECK(reading.events == events_before(size_bytes) || reading.events == EVENTS);
			CHECK(!reading.extent.is_ended);
		}
		size_bytes += size_bytes < last ? 1 + size_bytes / 500 : 1;
	}
	image_end();
}

TEST(a_flipped_bit_costs_its_chunk_at_most_and_is_noticed)
{
	image_begin(11, EVENTS);
	for (size_t at = 0; at < image.size_bytes; at += at < 200 ? 1 : 1 + trace_below(20)) {
		struct reading reading;

		image.bytes[at] ^= 1 << at % 8;
		image_put(image.bytes, image.size_bytes);
		image.bytes[at] ^= 1 << at % 8;
		reading = image_read();
		CHECK(!reading.error || (at < sizeof(struct trace_header) && reading.error == -ENOTSUP));
		CHECK(reading.error || reading.events >= EVENTS - events_at(at));
		/* The end only says where the index is, which is found without it. */
		if (at >= image.size_bytes - sizeof(struct trace_end) && reading.events == EVENTS)
			continue;
		CHECK(reading.error || reading.damaged || reading.extent.unread_bytes ||
		      reading.extent.is_header_damaged);
	}
	image_end();
}

/* Writes over a stretch of it: with zeros, with anything, or with what is elsewhere in it. */
static void damage(char *bytes)
{
	size_t size_bytes = 1 + trace_below(trace_below(2) ? 100 : image.size_bytes / 2);
	size_t at = trace_below(image.size_bytes - size_bytes);
	size_t from = trace_below(image.size_bytes - size_bytes);
	uint64_t how = trace_below(4);

	if (how == 3)
		at &= ~7ull, from &= ~7ull;
	if (how >= 2)
		memcpy(bytes + at, image.bytes + from, size_bytes);
	else
		for (size_t i = 0; i < size_bytes; i++)
			bytes[at + i] = how ? trace_draw() : 0;
}

TEST(what_was_not_written_is_never_read_whatever_is_damaged)
{
	char *bytes;

	image_begin(15, EVENTS);
	bytes = malloc(image.size_bytes);
	for (int round = 0; round < 400; round++) {
		memcpy(bytes, image.bytes, image.size_bytes);
		for (uint64_t i = 1 + trace_below(5); i; i--)
			damage(bytes);
		image_put(bytes, trace_below(2) ? image.size_bytes : trace_below(image.size_bytes));
		image_read();
	}
	free(bytes);
	image_end();
}

TEST(without_an_index_all_behind_a_damaged_header_is_found)
{
	size_t lost = 0;

	image_begin(16, EVENTS);
	for (size_t i = 0; i < image.count; i++) {
		size_t at = image.places[i].offset;
		struct reading reading;

		image.bytes[at + 9] ^= 4;
		image_put(image.bytes, image.size_bytes - 10);
		image.bytes[at + 9] ^= 4;
		reading = image_read();
		CHECK(!reading.error);
		CHECK_EQUAL(reading.damaged, 1);
		CHECK_EQUAL(reading.events, EVENTS - image.places[i].count);
		lost += image.places[i].count;
	}
	CHECK_EQUAL(lost, EVENTS);
	image_end();
}

TEST(a_trace_without_forms_is_read_as_this_version_writes_it)
{
	struct reading reading = { 0 };
	size_t damaged = 0;

	image_begin(17, EVENTS);
	for (size_t i = 0; i < image.count; i++) {
		if (image.places[i].kind != TRACE_CHUNK_FORMS)
			continue;
		image.bytes[image.places[i].offset + sizeof(struct trace_chunk)] ^= 1;
		image_put(image.bytes, image.size_bytes);
		reading = image_read();
		CHECK(!reading.error);
		CHECK_EQUAL(reading.damaged, ++damaged);
		CHECK_EQUAL(reading.extent.has_no_forms, damaged == 2);
	}
	CHECK_EQUAL(reading.events, EVENTS);
	CHECK_EQUAL(damaged, 2);
	image_end();
}

TEST(forms_are_repeated_when_the_file_has_grown)
{
	enum { BYTES = 33 << 20 };
	uint64_t *noise = malloc(BYTES);
	struct trace_writer *writer;
	size_t forms = 0;

	trace_begin();
	for (size_t i = 0; i < BYTES / sizeof(*noise); i++)
		noise[i] = trace_draw() << 40 ^ trace_draw();
	CHECK(!trace_writer_open(trace_path, &writer));
	for (int i = 0; i < 2; i++)
		trace_writer_chunk(writer, TRACE_CHUNK_NAMES, noise, BYTES, NULL);
	CHECK(!trace_writer_close(writer));
	free(noise);
	image_take();
	for (size_t i = 0; i < image.count; i++)
		forms += image.places[i].kind == TRACE_CHUNK_FORMS;
	CHECK_EQUAL(forms, 3);
	image_end();
}

/* As of a program that maps a file whose name is a chunk, or has one in a code object. */
TEST(a_chunk_in_a_chunk_is_none)
{
	char inner[2 * sizeof(struct trace_chunk)] = "";
	struct trace_chunk *chunk = (struct trace_chunk *)inner;
	struct trace_writer *writer;
	struct reading reading;

	trace_begin();
	chunk->magic = TRACE_CHUNK_MAGIC;
	chunk->kind = TRACE_CHUNK_NAMES;
	chunk->content_checksum = XXH64("", 0, 0);
	chunk->checksum = XXH64(chunk, offsetof(struct trace_chunk, checksum), 0);
	CHECK(!trace_writer_open(trace_path, &writer));
	trace_writer_chunk(writer, TRACE_CHUNK_INFO, inner, sizeof(inner), NULL);
	CHECK(!trace_writer_close(writer));
	image_take();
	image.bytes[image.places[1].offset] ^= 1;
	image_put(image.bytes, image.size_bytes - 10);
	reading = image_read();
	CHECK(!reading.error);
	CHECK_EQUAL(reading.damaged, 1);
	CHECK_EQUAL(reading.extent.chunks, 3);
	image_end();
}

/* --- Writers that are stopped --------------------------------------------------------------- */

static void write_all(_Atomic size_t *flushed)
{
	struct trace_writer *writer;

	if (trace_writer_open(trace_path, &writer))
		_exit(1);
	for (size_t i = 0; i < trace_written.count; i++) {
		trace_writer_event(writer, trace_event(i));
		if (i % 7)
			continue;
		trace_writer_flush(writer, UINT64_MAX, 0);
		atomic_store(flushed, i + 1);
	}
}

TEST(whenever_the_writer_is_killed_what_was_flushed_is_read)
{
	const char *wanted = getenv("PINCH_KILLS");
	struct trace_reader *reader;
	uint64_t time_ns = 1000;
	size_t before;
	int result;

	trace_begin();
	trace_seed = 18;
	for (int i = 0; i < 4000; i++)
		trace_note(trace_make_event(time_ns += trace_below(1000)));
	for (int i = wanted ? atoi(wanted) : KILLS; i; i--) {
		before = trace_kill_writer(write_all, 1 + trace_below(3500), trace_below(20000));
		CHECK(!trace_reader_open(trace_path, &reader));
		CHECK_THAT(trace_read(reader, &result), >=, before);
		CHECK(!result);
		trace_reader_close(reader);
	}
	trace_end();
}

/* In another process, with no space for more than so many bytes. */
static bool ends_without_space(size_t size_bytes)
{
	struct rlimit limit = { size_bytes, size_bytes };
	struct trace_writer *writer;
	int status;
	pid_t child = fork();

	if (!child) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		trace_forget();
		trace_seed = 13;
		writer = trace_write(1000, 20);
		_exit(trace_writer_error(writer) != -EFBIG || trace_writer_close(writer) != -EFBIG);
	}
	return waitpid(child, &status, 0) == child && !status;
}

TEST(a_full_disk_ends_a_trace_at_its_last_chunk)
{
	struct trace_reader *reader;
	size_t count, before = 0, whole_bytes;
	int result;

	trace_begin();
	trace_seed = 13;
	CHECK(!trace_writer_close(trace_write(1000, 20)));
	whole_bytes = file_bytes();
	for (size_t size_bytes = 2000; size_bytes < whole_bytes * 3 / 4; size_bytes += 3000) {
		CHECK(ends_without_space(size_bytes));
		CHECK(!trace_reader_open(trace_path, &reader));
		CHECK(!trace_reader_extent(reader)->is_ended);
		CHECK(!trace_reader_extent(reader)->unread_bytes);
		count = trace_read(reader, &result);
		CHECK(!result);
		CHECK_THAT(count, >=, before);
		CHECK_THAT(count, <, 1000);
		before = count;
		trace_reader_close(reader);
	}
	CHECK_THAT(before, >, 0);
	trace_end();
}
