/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Traces: what is written is read again. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session/event_kinds.h"
#include "trace/event_code.h"
#include "trace/trace_reader.h"
#include "trace/trace_ring.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"

enum { EVENTS = 5000 };

/* --- Their code ----------------------------------------------------------------------------- */

TEST(events_of_all_kinds_come_back_from_their_code)
{
	struct event_encoder *encoder = event_encoder_new();
	struct event_decoder *decoder;
	struct ev_header *header;
	struct event_forms forms;
	uint64_t time_ns = 1000;
	const void *bytes;
	size_t size_bytes;

	event_forms_here(&forms);
	decoder = event_decoder_new(&forms);
	for (trace_seed = 1; trace_seed < 50;) {
		uint64_t round = trace_seed;

		trace_forget();
		event_encoder_reset(encoder);
		for (int i = 0; i < 200; i++) {
			time_ns += trace_below(1000) ? trace_below(100000) : -trace_below(500);
			const struct ev_header *made = trace_make_event(time_ns);

			trace_note(made);
			event_encoder_add(encoder, made);
		}
		bytes = event_encoder_bytes(encoder, &size_bytes);
		event_decoder_begin(decoder, bytes, size_bytes);
		for (size_t i = 0; i < 200; i++) {
			CHECK_EQUAL(event_decoder_next(decoder, &header), 1);
			CHECK(trace_is_written(i, header));
		}
		CHECK(!event_decoder_next(decoder, &header));
		trace_seed = round + 1;
	}
	event_decoder_free(decoder);
	event_encoder_free(encoder);
	trace_forget();
}

/* One switch, as a writer with other ideas of its form has put it down. */
static void check_form(uint32_t size_bytes, uint16_t operation, uint32_t last_owner)
{
	uint8_t bytes[] = {
		EV_SCHED_SWITCH & 0x1f,
		20,
		7,
		0x18, /* two of its words, the last two or so */
		0,
		0x10,
		1,
		2,
		3,
		4,
		5,
		6,
		7,
		8, /* which were seen nowhere before */
		0,
		0x10,
		0x11,
		0x12,
		0x13,
		0x14,
		0x15,
		0x16,
		0x17,
		0x18,
	};
	struct event_decoder *decoder;
	struct ev_header *header;
	const struct ev_sched_switch *e;
	struct event_forms forms;

	event_forms_here(&forms);
	forms.of[0].size_bytes = size_bytes;
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, bytes, sizeof(bytes));
	CHECK_EQUAL(event_decoder_next(decoder, &header), 1);
	e = (const struct ev_sched_switch *)header;
	CHECK_EQUAL(header->time_ns, 10);
	CHECK_EQUAL(header->thread, 7);
	CHECK_EQUAL(e->object, 0x0807060504030201);
	CHECK_EQUAL(e->operation, operation);
	CHECK_EQUAL(e->owners[2], last_owner);
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
		0x1f,
		20,
		7,
		1,
		0,
		0x10,
		1,
		2,
		3,
		4,
		5,
		6,
		7,
		8,
		3,
		'a',
		'b',
		'c', /* flexible */
		EV_COLLECT_SYNC_BEGIN & 0x1f,
		2,
		0,
		0,
	};
	struct ev_header *header;
	struct event_decoder *decoder;
	struct event_forms forms;

	event_forms_here(&forms);
	forms.of[0x1f] = (struct event_form){ 32, true };
	forms.of[EV_COLLECT_SYNC_BEGIN & 0x1f] = (struct event_form){ sizeof(struct ev_sched_switch), false };
	decoder = event_decoder_new(&forms);
	event_decoder_begin(decoder, bytes, sizeof(bytes));
	CHECK_EQUAL(event_decoder_next(decoder, &header), 1);
	CHECK_EQUAL(header->time_ns, 11);
	CHECK(!event_decoder_next(decoder, &header));
	event_decoder_free(decoder);
}

/* --- Files ----------------------------------------------------------------------------------- */

TEST(a_trace_is_read_as_it_was_written)
{
	const struct trace_extent *extent;
	struct trace_reader *reader;
	size_t size_bytes, count;
	const void *content;
	int result;

	trace_begin();
	trace_seed = 7;
	CHECK(!trace_writer_close(trace_write(EVENTS, 1000)));
	CHECK(!trace_reader_open(trace_path, &reader));
	extent = trace_reader_extent(reader);
	CHECK(extent->is_ended && !extent->unread_bytes);
	CHECK_EQUAL(extent->events, EVENTS);
	CHECK_EQUAL(extent->first_ns, trace_event(0)->time_ns);
	CHECK_EQUAL(trace_reader_places(reader, &count)[1].kind, TRACE_CHUNK_INFO);
	CHECK(!trace_reader_content(reader, 1, &content, &size_bytes));
	CHECK_EQUAL(size_bytes, 2);
	CHECK(!memcmp(content, "{}", 2));
	CHECK_EQUAL(trace_read(reader, &result), EVENTS);
	CHECK(!result);
	trace_reader_close(reader);
	trace_end();
}

TEST(a_trace_can_be_read_while_it_is_written_up_to_the_last_chunk)
{
	const struct trace_extent *extent;
	struct trace_writer *writer;
	struct trace_reader *reader;
	int result;

	trace_begin();
	trace_seed = 8;
	writer = trace_write(500, 1000000);
	trace_writer_flush(writer, UINT64_MAX, 1);
	trace_writer_event(writer, trace_make_event(1u << 30));
	CHECK(!trace_reader_open(trace_path, &reader));
	extent = trace_reader_extent(reader);
	CHECK(!extent->is_ended && !extent->unread_bytes);
	CHECK_EQUAL(extent->events, 500);
	CHECK_EQUAL(trace_read(reader, &result), 500);
	CHECK(!result);
	trace_reader_close(reader);
	CHECK(!trace_writer_close(writer));
	trace_end();
}

TEST(events_are_found_by_their_time)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	uint64_t last_ns;

	trace_begin();
	trace_seed = 9;
	CHECK(!trace_writer_close(trace_write(EVENTS, 50)));
	CHECK(!trace_reader_open(trace_path, &reader));
	last_ns = trace_reader_extent(reader)->last_ns;
	for (uint64_t time_ns = 0; time_ns <= last_ns; time_ns += last_ns / 50) {
		size_t skipped = 0;

		trace_reader_seek(reader, time_ns);
		CHECK_EQUAL(trace_reader_next(reader, &header), 1);
		/* None that is left out is late enough, and few that are not come along. */
		while (!trace_is_written(skipped, header))
			CHECK_THAT(trace_event(skipped++)->time_ns, <, time_ns);
		while (header->time_ns < time_ns)
			CHECK_EQUAL(trace_reader_next(reader, &header), 1);
	}
	trace_reader_seek(reader, last_ns + 1);
	CHECK(!trace_reader_next(reader, &header));
	trace_reader_close(reader);
	trace_end();
}

static bool is_about(const struct ev_header *header, uint32_t thread)
{
	return header->thread == thread || event_other_thread(header) == thread;
}

/* Reads what is about one thread, or another. Returns how many events came along that are about neither. */
static size_t read_about(uint32_t thread, uint32_t other)
{
	const struct ev_header *header;
	struct trace_reader *reader;
	size_t others = 0, i = 0;
	int result;

	CHECK(!trace_reader_open(trace_path, &reader));
	trace_reader_choose_thread(reader, thread);
	trace_reader_choose_thread(reader, other);
	while ((result = trace_reader_next(reader, &header)) > 0) {
		for (; !trace_is_written(i, header); i++) {
			CHECK_THAT(i, <, trace_written.count);
			CHECK(!is_about(trace_event(i), thread) && !is_about(trace_event(i), other));
		}
		others += !is_about(trace_event(i), thread) && !is_about(trace_event(i), other);
		i++;
	}
	CHECK(!result);
	for (; i < trace_written.count; i++)
		CHECK(!is_about(trace_event(i), thread) && !is_about(trace_event(i), other));
	trace_reader_close(reader);
	return others;
}

TEST(of_chosen_threads_only_chunks_are_read_that_may_have_one)
{
	uint32_t thread, other;

	trace_begin();
	trace_seed = 14;
	CHECK(!trace_writer_close(trace_write(EVENTS, 20)));
	for (int i = 0; i < 50; i++) {
		thread = trace_event(trace_below(EVENTS))->thread;
		other = trace_event(trace_below(EVENTS))->thread;
		CHECK_THAT(read_about(thread, i % 2 ? other : thread), <, EVENTS);
	}
	thread = trace_event(EVENTS / 2)->thread + 77777;
	CHECK_THAT(read_about(thread, thread), <, EVENTS / 2);
	trace_end();
}

TEST(two_writers_do_not_share_a_file)
{
	struct trace_writer *writer, *other;
	struct trace_reader *reader;
	int result;

	trace_begin();
	trace_seed = 12;
	writer = trace_write(100, 10);
	CHECK_EQUAL(trace_writer_open(trace_path, &other), -EBUSY);
	CHECK_EQUAL(trace_writer_open_ring(trace_path, &(struct trace_ring_options){ 1 << 20, 0 }, &other), -EBUSY);
	CHECK(!trace_writer_close(writer));
	CHECK(!trace_reader_open(trace_path, &reader));
	CHECK_EQUAL(trace_read(reader, &result), 100);
	CHECK(!result);
	trace_reader_close(reader);
	trace_end();
}

TEST(what_is_no_trace_is_refused)
{
	struct trace_reader *reader;
	int fd;

	CHECK_EQUAL(trace_reader_open("/dev/null", &reader), -EINVAL);
	CHECK_EQUAL(trace_reader_open("/tmp", &reader), -EINVAL);
	CHECK_EQUAL(trace_reader_open("/nowhere/there", &reader), -ENOENT);
	trace_begin();
	CHECK_EQUAL(trace_reader_open(trace_path, &reader), -EBADMSG);
	fd = open(trace_path, O_WRONLY);
	for (int i = 0; i < 100; i++)
		CHECK_EQUAL(write(fd, "no trace at all\n", 16), 16);
	close(fd);
	CHECK_EQUAL(trace_reader_open(trace_path, &reader), -EBADMSG);
	trace_end();
}
