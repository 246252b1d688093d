/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace_fixture.h"

#include <assert.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/event_kinds.h"
#include "trace/event_times.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"
#include "values.h"

enum { EVENT_WORDS = 2048 };

uint64_t trace_seed;

uint64_t trace_draw(void)
{
	trace_seed = trace_seed * 6364136223846793005ull + 1442695040888963407ull;
	return trace_seed >> 24;
}

uint64_t trace_below(uint64_t limit)
{
	return trace_draw() % limit;
}

/* --- Random events of all kinds ------------------------------------------------------------- */

static uint64_t event[EVENT_WORDS];

static void put_number(const struct event_kind *kind, uint32_t field, uint64_t number)
{
	memcpy((char *)event + kind->fields[field].offset_bytes, &number, kind->fields[field].width_bytes);
}

/* So many strings, or any number of them, in so many bytes. */
static void put_strings(char *at, size_t bytes, uint32_t count)
{
	for (size_t i = 0; i < bytes; i++)
		at[i] = bytes - i <= count || !trace_below(10) ? '\0' : 'a' + trace_below(26);
	if (bytes)
		at[bytes - 1] = '\0';
}

/* How many elements an array is to have; the fields that say so are set. */
static size_t make_length(const struct event_kind *kind, const struct event_field *field)
{
	size_t length = 0, part;

	for (uint32_t i = 0; i < field->length_field_count; i++) {
		part = trace_below(200) + (field->strings == STRINGS_COUNT ? field->string_count : 0);
		part = part % 3 || field->strings == STRINGS_COUNT ? part : 0;
		put_number(kind, field->length_fields[i], part);
		length += part;
	}
	return length;
}

/* How many strings a text has that ends itself. */
static uint32_t make_count(const struct event_kind *kind, const struct event_field *field)
{
	uint32_t count = field->string_count;

	if (field->strings != STRINGS_BY_FIELD)
		return count;
	count = trace_below(2);
	put_number(kind, field->string_count, count);
	return count;
}

/* Makes the flexible arrays, and what the fixed part says of them. */
static void make_tail(const struct event_kind *kind)
{
	char *at = (char *)event + kind->size_bytes;

	for (uint32_t i = 0; i < kind->field_count; i++) {
		const struct event_field *field = &kind->fields[i];
		size_t length = make_length(kind, field);

		if (field->length_field_count && field->strings)
			put_strings(at, length, field->string_count);
		at += length * field->width_bytes;
		if (field->length_field_count || !field->strings)
			continue;
		for (uint32_t strings = make_count(kind, field); strings; strings--) {
			length = 1 + trace_below(300);
			memset(at, 'a' + trace_below(26), length - 1);
			at[length - 1] = '\0';
			at += length;
		}
	}
}

static const struct event_kind *any_kind(unsigned int *subsys, unsigned int *number)
{
	const struct event_kind *kind = NULL;

	while (!kind) {
		*subsys = trace_below(TRACE_NUM_SUBSYSTEMS);
		*number = trace_below(EVENTS_MAX);
		kind = event_kind_find(*subsys, *number);
	}
	return kind;
}

/* Most words are those of before or 0, as in a real trace. */
const struct ev_header *trace_make_event(uint64_t time_ns)
{
	unsigned int subsys, number;
	const struct event_kind *kind = any_kind(&subsys, &number);
	struct ev_header *header = (struct ev_header *)event;
	size_t tail = kind->is_flexible ? kind->size_bytes / 8 : EVENT_WORDS;

	for (size_t i = 2; i < EVENT_WORDS && (i < 64 || trace_below(8)); i++)
		if (!trace_below(3) || i >= tail)
			event[i] = trace_below(2) ? trace_draw() << 32 | trace_draw() : 0;
	*header = (struct ev_header){
		.time_ns = time_ns,
		/* Any, but not too many of them. */
		.thread = trace_below(3) ? trace_below(5) : trace_below(1 << 14) * 0x1ffff,
		.subsys = subsys,
		.event = number,
	};
	make_tail(kind);
	event_times_bound(header, 0, UINT64_MAX, &(struct bad_times){ 0 });
	assert(event_is_well_formed(header, event_bytes(header)));
	return header;
}

struct trace_written trace_written;

void trace_note(const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header), capacity_bytes = (size_bytes + 7) & ~(size_t)7;

	if (trace_written.size_bytes + capacity_bytes > trace_written.capacity) {
		trace_written.capacity = 2 * (trace_written.size_bytes + capacity_bytes);
		trace_written.bytes = realloc(trace_written.bytes, trace_written.capacity);
	}
	if (trace_written.count == trace_written.at_capacity) {
		trace_written.at_capacity = 2 * trace_written.at_capacity + 64;
		trace_written.at = realloc(trace_written.at, trace_written.at_capacity * sizeof(*trace_written.at));
	}
	memcpy(trace_written.bytes + trace_written.size_bytes, header, size_bytes);
	trace_written.at[trace_written.count++] = trace_written.size_bytes;
	trace_written.size_bytes += capacity_bytes; /* the next one is aligned */
}

void trace_forget(void)
{
	free(trace_written.bytes);
	free(trace_written.at);
	memset(&trace_written, 0, sizeof(trace_written));
}

const struct ev_header *trace_event(size_t i)
{
	return (const struct ev_header *)(trace_written.bytes + trace_written.at[i]);
}

bool trace_is_written(size_t i, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	return i < trace_written.count && size_bytes <= trace_written.size_bytes - trace_written.at[i] &&
	       !memcmp(header, trace_event(i), size_bytes);
}

/* --- Files ----------------------------------------------------------------------------------- */

char trace_path[] = "/tmp/pinch-trace-test-XXXXXX";

void trace_begin(void)
{
	int fd;

	memcpy(trace_path + sizeof(trace_path) - 7, "XXXXXX", 6);
	fd = mkstemp(trace_path);
	assert(fd >= 0 && !close(fd));
	trace_forget();
}

void trace_end(void)
{
	assert(!unlink(trace_path));
	trace_forget();
}

struct trace_writer *trace_write(size_t count, uint64_t flush_one_in)
{
	struct trace_writer *writer;
	uint64_t time_ns = 1000;

	memset(event, 0, sizeof(event));
	assert(!trace_writer_open(trace_path, &writer));
	trace_writer_chunk(writer, TRACE_CHUNK_INFO, "{}", 2, NULL);
	for (size_t i = 0; i < count; i++) {
		const struct ev_header *header = trace_make_event(time_ns += 1 + trace_below(1000));

		trace_note(header);
		trace_writer_event(writer, header);
		if (!trace_below(flush_one_in))
			trace_writer_flush(writer, time_ns, 0);
	}
	return writer;
}

size_t trace_read(struct trace_reader *reader, int *result)
{
	const struct ev_header *header;
	size_t count = 0;

	while ((*result = trace_reader_next(reader, &header)) > 0)
		assert(trace_is_written(count++, header));
	return count;
}

static void write_and_wait(void (*write_all)(_Atomic size_t *flushed), _Atomic size_t *flushed)
{
	write_all(flushed);
	for (;;)
		pause();
}

size_t trace_kill_writer(void (*write_all)(_Atomic size_t *flushed), size_t count, uint64_t spins)
{
	_Atomic size_t *flushed =
		mmap(NULL, sizeof(*flushed), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork();
	size_t before;

	if (!child)
		write_and_wait(write_all, flushed);
	while (atomic_load(flushed) < count)
		assert(waitpid(child, NULL, WNOHANG) == 0);
	while (spins--)
		atomic_load(flushed);
	before = atomic_load(flushed);
	kill(child, SIGKILL);
	assert(waitpid(child, NULL, 0) == child);
	munmap((void *)flushed, sizeof(*flushed));
	return before;
}
