/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces: what is written is read again, and of a file that is damaged or cut anywhere all that is
 * before the damage.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"
#include "values.h"

enum { EVENT_WORDS = 2048, EVENTS = 5000 };

static uint64_t seed;

static uint64_t draw(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 24;
}

static uint64_t below(uint64_t limit)
{
	return draw() % limit;
}

/* --- Random events of all kinds ------------------------------------------------------------- */

static uint64_t event[EVENT_WORDS];

static void put_string(char *at, size_t length)
{
	for (size_t i = 0; i < length; i++)
		at[i] = 'a' + below(26);
	at[length] = '\0';
}

/* Makes the flexible part what the fixed part says. */
static void make_tail(const struct event_kind *kind)
{
	struct ev_header *header = (struct ev_header *)event;

	switch (kind->id) {
	case EV_STACK_FRAMES:
		((struct ev_stack_frames *)header)->kernel_count = below(20);
		((struct ev_stack_frames *)header)->user_count = below(100);
		break;
	case EV_STACK_MEMORY:
		((struct ev_stack_memory *)header)->kernel_count = below(20);
		((struct ev_stack_memory *)header)->word_count = below(1000);
		break;
	case EV_FILE_PATH: {
		struct ev_file_path *e = (void *)header;

		e->name_bytes = 1 + below(200);
		put_string(e->names, e->name_bytes - 1);
		break;
	}
	case EV_FILE_SOCKET: {
		struct ev_file_socket *e = (void *)header;

		e->has_process = below(2);
		put_string(e->path, 7);
		put_string(e->path + 8, 5);
		break;
	}
	case EV_SPACE_PYTHON_CODE: {
		struct ev_space_python_code *e = (void *)header;

		e->function_bytes = 1 + below(50);
		e->file_bytes = below(2) ? 1 + below(100) : 0;
		e->table_bytes = below(300);
		put_string((char *)e->data, e->function_bytes - 1);
		if (e->file_bytes)
			put_string((char *)e->data + e->function_bytes, e->file_bytes - 1);
		break;
	}
	case EV_COLLECT_RUN: {
		struct ev_collect_run *e = (void *)header;

		e->pid_count = below(5);
		e->text_bytes = 12;
		memcpy(e->data + 4 * e->pid_count, "one\0two\0six", e->text_bytes);
		break;
	}
	case EV_COLLECT_END: {
		struct ev_collect_end *e = (void *)header;

		e->text_bytes = below(2) ? 1 + below(100) : 0;
		if (e->text_bytes)
			put_string((char *)e->data, e->text_bytes - 1);
		break;
	}
	case EV_SPACE_FOUND:
	case EV_SPACE_MAP:
		put_string(((struct ev_space_map *)header)->path, below(300));
		break;
	default:
		break;
	}
}

static const struct event_kind *any_kind(void)
{
	const struct event_kind *kind = NULL;

	while (!kind)
		kind = event_kind_find(below(TRACE_NUM_SUBSYSTEMS), below(EVENTS_MAX));
	return kind;
}

/* Most words are those of before or 0, as in a real trace. */
static const struct ev_header *make_event(uint64_t time_ns)
{
	const struct event_kind *kind = any_kind();
	struct ev_header *header = (struct ev_header *)event;
	size_t tail = kind->is_flexible ? kind->size_bytes / 8 : EVENT_WORDS;

	for (size_t i = 2; i < EVENT_WORDS && (i < 64 || below(8)); i++)
		if (!below(3) || i >= tail)
			event[i] = below(2) ? draw() << 32 | draw() : 0;
	*header = (struct ev_header){
		.time_ns = time_ns, .thread = below(3) ? below(5) : below(1u << 31),
		.subsys = kind->id >> 16, .event = kind->id & 0xffff,
	};
	make_tail(kind);
	CHECK(event_is_well_formed(header, event_bytes(header)));
	return header;
}

/* What was written, to compare with. */
static struct {
	char *bytes;
	size_t size_bytes, room;
	size_t at[EVENTS + 1];
	size_t count;
} written;

static void note(const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	if (written.size_bytes + size_bytes > written.room) {
		written.room = 2 * (written.size_bytes + size_bytes);
		written.bytes = realloc(written.bytes, written.room);
	}
	memcpy(written.bytes + written.size_bytes, header, size_bytes);
	written.at[written.count++] = written.size_bytes;
	written.size_bytes += size_bytes;
	written.at[written.count] = written.size_bytes;
}

static void forget_written(void)
{
	free(written.bytes);
	memset(&written, 0, sizeof(written));
}

static bool is_written(size_t i, const struct ev_header *header)
{
	size_t size_bytes = written.at[i + 1] - written.at[i];

	return i < written.count && event_bytes(header) == size_bytes &&
	       !memcmp(header, written.bytes + written.at[i], size_bytes);
}

/* --- Their code ----------------------------------------------------------------------------- */

TEST(events_of_all_kinds_come_back_from_their_code)
{
	struct event_encoder *encoder = event_encoder_new();
	struct event_decoder *decoder;
	const struct ev_header *header;
	struct event_forms forms;
	uint64_t time_ns = 1000;
	const void *bytes;
	size_t size_bytes;

	event_forms_here(&forms);
	decoder = event_decoder_new(&forms);
	for (seed = 1; seed < 50;) {
		uint64_t round = seed;

		forget_written();
		event_encoder_reset(encoder);
		for (int i = 0; i < 200; i++) {
			time_ns += below(1000) ? below(100000) : -below(500);
			header = make_event(time_ns);
			note(header);
			event_encoder_add(encoder, header);
		}
		bytes = event_encoder_bytes(encoder, &size_bytes);
		event_decoder_begin(decoder, bytes, size_bytes);
		for (size_t i = 0; i < 200; i++) {
			CHECK(event_decoder_next(decoder, &header) == 1);
			CHECK(is_written(i, header));
		}
		CHECK(!event_decoder_next(decoder, &header));
		seed = round + 1;
	}
	event_decoder_free(decoder);
	event_encoder_free(encoder);
	forget_written();
}

/* One switch, as a writer with other ideas of its form has put it down. */
static void check_form(uint32_t size_bytes, uint16_t operation, uint32_t last_owner)
{
	uint8_t bytes[] = {
		EV_SCHED_SWITCH & 0x1f, 20, 7, 0x18,		/* two of its words, the last two or so */
		1, 2, 3, 4, 5, 6, 7, 8, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
	};
	struct event_decoder *decoder;
	const struct ev_header *header;
	const struct ev_sched_switch *e;
	struct event_forms forms;

	event_forms_here(&forms);
	forms.of[0].size_bytes = size_bytes;
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, bytes, sizeof(bytes));
	CHECK(event_decoder_next(decoder, &header) == 1);
	e = (const struct ev_sched_switch *)header;
	CHECK(header->time_ns == 10 && header->thread == 7);
	CHECK(e->object == 0x0807060504030201 && e->operation == operation && e->owners[2] == last_owner);
	CHECK(!event_decoder_next(decoder, &header));
	event_decoder_free(decoder);
}

TEST(what_another_version_has_more_or_less_does_not_matter)
{
	check_form(sizeof(struct ev_sched_switch), 0x1413, 0);
	check_form(sizeof(struct ev_sched_switch) + 64, 0x1413, 0);
	check_form(sizeof(struct ev_sched_switch) - 8, 0x1413, 0);
}

TEST(kinds_that_are_not_known_here_are_left_out)
{
	static const uint8_t bytes[] = {
		0x1f, 20, 7, 1, 1, 2, 3, 4, 5, 6, 7, 8, 3, 'a', 'b', 'c',	/* flexible */
		EV_COLLECT_SYNC_BEGIN & 0x1f, 2, 0, 0,
	};
	const struct ev_header *header;
	struct event_decoder *decoder;
	struct event_forms forms;

	event_forms_here(&forms);
	forms.of[0x1f] = (struct event_form){ 32, true };
	forms.of[EV_COLLECT_SYNC_BEGIN & 0x1f] =
		(struct event_form){ sizeof(struct ev_sched_switch), false };
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, bytes, sizeof(bytes));
	CHECK(event_decoder_next(decoder, &header) == 1 && header->time_ns == 11);
	CHECK(!event_decoder_next(decoder, &header));
	event_decoder_free(decoder);
}

/* --- Files ---------------------------------------------------------------------------------- */

static char path[] = "/tmp/pinch-trace-test-XXXXXX";

static void begin(void)
{
	int fd;

	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	fd = mkstemp(path);
	CHECK(fd >= 0 && !close(fd));
	forget_written();
}

static void end(void)
{
	CHECK(!unlink(path));
	forget_written();
}

/* Writes count events; one in so many ends a chunk. */
static struct trace_writer *write_events(size_t count, uint64_t flush_one_in)
{
	struct trace_writer *writer;
	uint64_t time_ns = 1000;

	memset(event, 0, sizeof(event));
	CHECK(!trace_writer_open(path, &writer));
	trace_writer_chunk(writer, TRACE_CHUNK_INFO, "{}", 2);
	for (size_t i = 0; i < count; i++) {
		const struct ev_header *header = make_event(time_ns += 1 + below(1000));

		note(header);
		trace_writer_event(writer, header);
		if (!below(flush_one_in))
			trace_writer_flush(writer, time_ns, 0);
	}
	return writer;
}

/* Reads as far as it goes; returns how many events there were, all as written. */
static size_t read_events(struct trace_reader *reader, int *result)
{
	const struct ev_header *header;
	size_t count = 0;

	while ((*result = trace_reader_next(reader, &header)) > 0)
		CHECK(is_written(count++, header));
	return count;
}

TEST(a_trace_is_read_as_it_was_written)
{
	const struct trace_extent *extent;
	struct trace_reader *reader;
	size_t size_bytes, count;
	const void *content;
	int result;

	begin();
	seed = 7;
	CHECK(!trace_writer_close(write_events(EVENTS, 1000)));
	CHECK(!trace_reader_open(path, &reader));
	extent = trace_reader_extent(reader);
	CHECK(extent->is_ended && !extent->unread_bytes && extent->events == EVENTS);
	CHECK(extent->first_ns == ((struct ev_header *)written.bytes)->time_ns);
	CHECK(trace_reader_places(reader, &count)[1].kind == TRACE_CHUNK_INFO);
	CHECK(!trace_reader_content(reader, 1, &content, &size_bytes));
	CHECK(size_bytes == 2 && !memcmp(content, "{}", 2));
	CHECK(read_events(reader, &result) == EVENTS && !result);
	trace_reader_close(reader);
	end();
}

TEST(a_trace_can_be_read_while_it_is_written_up_to_the_last_chunk)
{
	const struct trace_extent *extent;
	struct trace_writer *writer;
	struct trace_reader *reader;
	int result;

	begin();
	seed = 8;
	writer = write_events(500, 1000000);
	trace_writer_flush(writer, UINT64_MAX, 1);
	trace_writer_event(writer, make_event(1u << 30));
	CHECK(!trace_reader_open(path, &reader));
	extent = trace_reader_extent(reader);
	CHECK(!extent->is_ended && !extent->unread_bytes && extent->events == 500);
	CHECK(read_events(reader, &result) == 500 && !result);
	trace_reader_close(reader);
	CHECK(!trace_writer_close(writer));
	end();
}

TEST(events_are_found_by_their_time)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	uint64_t last_ns;

	begin();
	seed = 9;
	CHECK(!trace_writer_close(write_events(EVENTS, 50)));
	CHECK(!trace_reader_open(path, &reader));
	last_ns = trace_reader_extent(reader)->last_ns;
	for (uint64_t time_ns = 0; time_ns <= last_ns; time_ns += last_ns / 50) {
		size_t skipped = 0;

		trace_reader_seek(reader, time_ns);
		CHECK(trace_reader_next(reader, &header) == 1);
		/* None that is left out is late enough, and few that are not come along. */
		while (!is_written(skipped, header))
			CHECK(((struct ev_header *)(written.bytes + written.at[skipped++]))->time_ns <
			      time_ns);
		while (header->time_ns < time_ns)
			CHECK(trace_reader_next(reader, &header) == 1);
	}
	trace_reader_seek(reader, last_ns + 1);
	CHECK(!trace_reader_next(reader, &header));
	trace_reader_close(reader);
	end();
}

static void copy_file(const char *to, size_t size_bytes, size_t flip_at)
{
	static char bytes[8 << 20];
	int from_fd = open(path, O_RDONLY), to_fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	CHECK(size_bytes <= sizeof(bytes) && read(from_fd, bytes, size_bytes) == (ssize_t)size_bytes);
	if (flip_at < size_bytes)
		bytes[flip_at] ^= 1 << flip_at % 8;
	CHECK(write(to_fd, bytes, size_bytes) == (ssize_t)size_bytes);
	close(from_fd);
	close(to_fd);
}

static size_t file_bytes(void)
{
	struct stat status;

	CHECK(!stat(path, &status));
	return status.st_size;
}

/* The end of the last chunk with events that lies before a place, and how many events there are. */
static size_t events_before(const struct trace_place *places, size_t count, size_t size_bytes)
{
	size_t events = 0;

	for (size_t i = 0; i + 1 < count && places[i + 1].offset <= size_bytes; i++)
		events += places[i].count;
	return events;
}

TEST(a_trace_cut_anywhere_has_all_chunks_before)
{
	char cut[sizeof(path) + 8];
	struct trace_place *places;
	struct trace_reader *reader;
	size_t count, all_bytes;
	int result;

	begin();
	seed = 10;
	CHECK(!trace_writer_close(write_events(300, 30)));
	snprintf(cut, sizeof(cut), "%s.cut", path);
	CHECK(!trace_reader_open(path, &reader));
	memcpy(places = calloc(trace_reader_extent(reader)->chunks + 1, sizeof(*places)),
	       trace_reader_places(reader, &count),
	       trace_reader_extent(reader)->chunks * sizeof(*places));
	trace_reader_close(reader);
	all_bytes = file_bytes();
	/* Where the index begins that the last of them would have before it. */
	places[count].offset = all_bytes;
	for (size_t size_bytes = 0; size_bytes < all_bytes; size_bytes += 1 + size_bytes / 500) {
		copy_file(cut, size_bytes, SIZE_MAX);
		result = trace_reader_open(cut, &reader);
		if (size_bytes < places[1].offset) {
			CHECK(result == -EBADMSG);
			continue;
		}
		CHECK(!result && !trace_reader_extent(reader)->is_ended);
		CHECK(read_events(reader, &result) >= events_before(places, count + 1, size_bytes));
		CHECK(!result);
		trace_reader_close(reader);
	}
	free(places);
	CHECK(!unlink(cut));
	end();
}

TEST(a_flipped_bit_costs_its_chunk_at_most_and_is_never_believed)
{
	char damaged[sizeof(path) + 8];
	struct trace_reader *reader;
	const struct ev_header *header;
	int result;

	begin();
	seed = 11;
	CHECK(!trace_writer_close(write_events(300, 30)));
	snprintf(damaged, sizeof(damaged), "%s.bad", path);
	for (size_t at = 0; at < file_bytes(); at += 1 + below(40)) {
		size_t matching = 0;

		copy_file(damaged, file_bytes(), at);
		result = trace_reader_open(damaged, &reader);
		CHECK(!result || result == -EBADMSG || result == -ENOTSUP);
		if (result)
			continue;
		while ((result = trace_reader_next(reader, &header))) {
			if (result < 0)
				continue;
			while (matching < written.count && !is_written(matching, header))
				matching++;
			CHECK(matching < written.count);
		}
		trace_reader_close(reader);
	}
	CHECK(!unlink(damaged));
	end();
}

TEST(two_writers_do_not_share_a_file)
{
	struct trace_writer *writer, *other;
	struct trace_reader *reader;
	int result;

	begin();
	seed = 12;
	writer = write_events(100, 10);
	CHECK(trace_writer_open(path, &other) == -EBUSY);
	CHECK(!trace_writer_close(writer));
	CHECK(!trace_reader_open(path, &reader));
	CHECK(read_events(reader, &result) == 100 && !result);
	trace_reader_close(reader);
	end();
}

/* In another process, with no room for more than so many bytes. */
static bool ends_for_want_of_room(size_t size_bytes)
{
	struct rlimit limit = { size_bytes, size_bytes };
	struct trace_writer *writer;
	int status;
	pid_t child = fork();

	if (!child) {
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &limit);
		forget_written();
		seed = 13;
		writer = write_events(1000, 20);
		_exit(trace_writer_error(writer) != -EFBIG || trace_writer_close(writer) != -EFBIG);
	}
	return waitpid(child, &status, 0) == child && !status;
}

TEST(a_full_disk_ends_a_trace_at_its_last_chunk)
{
	struct trace_reader *reader;
	size_t count, before = 0, whole_bytes;
	int result;

	begin();
	seed = 13;
	CHECK(!trace_writer_close(write_events(1000, 20)));
	whole_bytes = file_bytes();
	for (size_t size_bytes = 2000; size_bytes < whole_bytes * 3 / 4; size_bytes += 3000) {
		CHECK(ends_for_want_of_room(size_bytes));
		CHECK(!trace_reader_open(path, &reader));
		CHECK(!trace_reader_extent(reader)->is_ended);
		CHECK(!trace_reader_extent(reader)->unread_bytes);
		count = read_events(reader, &result);
		CHECK(!result && count >= before && count < 1000);
		before = count;
		trace_reader_close(reader);
	}
	CHECK(before > 0);
	end();
}

TEST(what_is_no_trace_is_refused)
{
	struct trace_reader *reader;
	int fd;

	CHECK(trace_reader_open("/dev/null", &reader) == -EINVAL);
	CHECK(trace_reader_open("/tmp", &reader) == -EINVAL);
	CHECK(trace_reader_open("/nowhere/there", &reader) == -ENOENT);
	begin();
	CHECK(trace_reader_open(path, &reader) == -EBADMSG);
	fd = open(path, O_WRONLY);
	for (int i = 0; i < 100; i++)
		CHECK(write(fd, "no trace at all\n", 16) == 16);
	close(fd);
	CHECK(trace_reader_open(path, &reader) == -EBADMSG);
	end();
}
