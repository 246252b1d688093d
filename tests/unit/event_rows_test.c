/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows of a trace, reached at random, beside the lines of all of its events, read from its beginning: the same
 * ones, of all events and of those that a filter chooses, in traces that are whole, damaged, or a flight
 * recorder's.
 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "rows/event_line.h"
#include "rows/event_row.h"
#include "rows/event_rows.h"
#include "rows/row_choice.h"
#include "rows/row_reader.h"
#include "trace/trace_reader.h"
#include "trace/trace_ring.h"
#include "trace/trace_threads.h"
#include "trace/trace_writer.h"
#include "trace_fixture.h"
#include "values.h"

enum { EVENTS = 3000, FLUSH_ONE_IN = 40, JUMPS = 200, ROWS_MAX = 100, FILTERS = 60, THREADS = TRACE_THREADS_MAX };

/* --- All lines that there are --------------------------------------------------------------- */

static struct {
	struct text bytes;
	size_t *at;
	int64_t *time_ns;
	size_t count, capacity;
} lines;

static const char *line_at(size_t i)
{
	return lines.bytes.bytes + lines.at[i];
}

static void lines_forget(void)
{
	text_fini(&lines.bytes);
	free(lines.at);
	free(lines.time_ns);
	memset(&lines, 0, sizeof(lines));
}

static void lines_add(const struct event_line *line, const char *search)
{
	size_t at = lines.bytes.length;

	if (lines.count == lines.capacity) {
		lines.capacity = 2 * lines.capacity + 64;
		lines.at = realloc(lines.at, lines.capacity * sizeof(*lines.at));
		lines.time_ns = realloc(lines.time_ns, lines.capacity * sizeof(*lines.time_ns));
	}
	event_line_put(&lines.bytes, line);
	lines.bytes.bytes[lines.bytes.length - 1] = '\0';
	if (search && !strcasestr(lines.bytes.bytes + at, search)) {
		lines.bytes.length = at;
		return;
	}
	lines.at[lines.count] = at;
	lines.time_ns[lines.count++] = line->header->time_ns - line->first_ns;
}

/* As pinch dump does it, but no chunk is left out: the choice may say so of another reader only. */
static void lines_read(const struct event_rows_options *options)
{
	struct row_choice_options choosing = { .filter = options->filter };
	struct row_reader *reader, *other;
	struct row_choice *choice;
	struct event_line line;
	int got;

	lines_forget();
	CHECK(!row_reader_open(trace_path, &reader));
	CHECK(!row_reader_open(trace_path, &other));
	CHECK(!row_choice_open(&choosing, row_reader_trace(other), trace_path, &choice));
	while ((got = row_reader_next(reader, &line)))
		if (got == 1 && row_choice_take(choice, trace_reader_known(row_reader_trace(reader)), &line))
			lines_add(&line, options->search);
	row_choice_close(choice);
	row_reader_close(other);
	row_reader_close(reader);
}

/* --- Rows beside them ------------------------------------------------------------------------ */

static void put_row(struct text *out, const struct event_row *row)
{
	uint64_t ns = row->time_ns < 0 ? -(uint64_t)row->time_ns : (uint64_t)row->time_ns;

	text_printf(out, "%s%llu.%09llu %u %s%s%s", row->time_ns < 0 ? "-" : "", (unsigned long long)ns / 1000000000,
		    (unsigned long long)ns % 1000000000, row->thread, row->event, *row->text ? " " : "", row->text);
}

static void check_row(const struct event_row *row, size_t i)
{
	struct text line = { 0 };

	CHECK_EQUAL(row->row, i);
	put_row(&line, row);
	CHECK_STRING(line.bytes, line_at(i));
	text_fini(&line);
}

/* Up to as many as are there. */
static void check_rows(struct event_rows *rows, size_t first, size_t count)
{
	const struct event_row *list;
	size_t end = first + count, got;

	if (end > event_rows_count(rows))
		end = event_rows_count(rows);
	for (; first < end; first += got) {
		got = event_rows_get(rows, first, end - first, &list);
		CHECK(got && got <= end - first);
		for (size_t i = 0; i < got; i++)
			check_row(&list[i], first + i);
	}
}

static void check_jumps(struct event_rows *rows)
{
	const struct event_row *row;
	uint64_t count = event_rows_count(rows);

	CHECK(!event_rows_get(rows, count, 1, &row));
	CHECK(!event_rows_get(rows, UINT64_MAX, 1, &row));
	for (int i = 0; count && i < JUMPS; i++)
		check_rows(rows, trace_below(count), 1 + trace_below(ROWS_MAX));
	for (size_t i = count; i-- > 0 && count - i < ROWS_MAX;)
		check_rows(rows, i, 1);
}

static void check_times(struct event_rows *rows)
{
	for (int i = 0; i < JUMPS; i++) {
		int64_t time_ns = (int64_t)trace_below(3 * EVENTS * 500) - 1000;
		size_t row = 0;

		while (row < lines.count && lines.time_ns[row] < time_ns)
			row++;
		CHECK_EQUAL(event_rows_at(rows, time_ns), row);
	}
}

/* While they are counted, those that are there are the first ones. */
static void check_filter(const struct event_rows_options *options)
{
	struct event_rows *rows;
	uint64_t before = 0;
	int more = 1;

	lines_read(options);
	CHECK(!event_rows_open(trace_path, options, &rows));
	while (more == 1) {
		CHECK(!event_rows_is_counted(rows));
		CHECK_THAT(event_rows_count(rows), >=, before);
		before = event_rows_count(rows);
		CHECK_THAT(before, <=, lines.count);
		if (!trace_below(20))
			check_rows(rows, before - trace_below(before + 1), ROWS_MAX);
		more = event_rows_step(rows, 0);
	}
	CHECK(!more && event_rows_is_counted(rows));
	CHECK_EQUAL(event_rows_count(rows), lines.count);
	check_jumps(rows);
	check_times(rows);
	event_rows_close(rows);
}

static const struct event_rows_options all_rows;

static void write_trace(uint64_t seed)
{
	trace_begin();
	trace_seed = seed;
	CHECK(!trace_writer_close(trace_write(EVENTS, FLUSH_ONE_IN)));
}

TEST(all_rows_are_there_before_they_are_counted)
{
	struct event_rows *rows;

	for (uint64_t seed = 1; seed <= 5; seed++) {
		write_trace(seed);
		lines_read(&all_rows);
		CHECK_EQUAL(lines.count, EVENTS);
		CHECK(!event_rows_open(trace_path, &all_rows, &rows));
		CHECK_EQUAL(event_rows_count(rows), EVENTS);
		check_jumps(rows);
		check_times(rows);
		CHECK(!event_rows_is_counted(rows));
		CHECK_EQUAL(event_rows_step(rows, UINT64_MAX), 0);
		CHECK(event_rows_is_counted(rows));
		CHECK_EQUAL(event_rows_count(rows), EVENTS);
		check_jumps(rows);
		event_rows_close(rows);
		trace_end();
	}
}

static char words[4][32];

static void add_word(struct event_filter *filter, enum filter_kind kind, int i, const char *word)
{
	snprintf(words[i], sizeof(words[i]), "%s", word);
	CHECK(!event_filter_add(filter, kind, words[i]));
}

/* The thread of any event, or any other number. */
static void add_number(struct event_filter *filter, enum filter_kind kind, int i, uint64_t limit)
{
	char word[32];

	snprintf(word, sizeof(word), "%llu", (unsigned long long)trace_below(limit));
	add_word(filter, kind, i, word);
}

static struct event_rows_options make_filter(void)
{
	static const char *const subsystems[] = { "sched", "thread", "user", "stack", "none" };
	static const char *const events[] = { "SWITCH", "thread.NAME", "EVENT", "FRAMES" };
	static const char *const searches[] = { NULL, "switch", "=0 ", "A", "0x", "nowhere" };
	struct event_rows_options options = { .search = searches[trace_below(6)] };

	for (int i = 0; i < 4; i++)
		switch (trace_below(12)) {
		case 0:
			add_word(&options.filter, FILTER_SUBSYSTEM, i, subsystems[trace_below(5)]);
			break;
		case 1:
			add_word(&options.filter, FILTER_EVENT, i, events[trace_below(4)]);
			break;
		case 2:
			add_number(&options.filter, FILTER_THREAD, i, 6);
			break;
		case 3:
			add_number(&options.filter, FILTER_CPU, i, 4);
			break;
		case 4:
			add_number(&options.filter, FILTER_PROCESS, i, 2);
			break;
		case 5:
			options.filter.from_ns = trace_below(EVENTS * 500);
			break;
		case 6:
			options.filter.to_ns = trace_below(EVENTS * 500);
			break;
		}
	/* It chooses something. */
	if (!event_filter_is_set(&options.filter) && !options.filter.from_ns && !options.filter.to_ns &&
	    !options.search)
		options.search = "E";
	return options;
}

TEST(rows_of_a_filter_are_those_that_it_chooses_of_all)
{
	struct event_rows_options options;

	write_trace(7);
	for (int i = 0; i < FILTERS; i++) {
		options = make_filter();
		check_filter(&options);
	}
	trace_end();
}

/* Changes some bytes, anywhere. */
static void damage(int count)
{
	FILE *file = fopen(trace_path, "r+");
	long size_bytes;

	CHECK(file && !fseek(file, 0, SEEK_END));
	size_bytes = ftell(file);
	for (int i = 0; i < count; i++) {
		CHECK(!fseek(file, sizeof(struct trace_header) + trace_below(size_bytes - 200), SEEK_SET));
		fputc(trace_below(256), file);
	}
	CHECK(!fclose(file));
}

/*
 * Whatever is damaged, asking before it is counted does no harm. Returns how many rows fewer there are than the
 * trace says.
 */
static size_t check_guesses(void)
{
	struct event_rows *rows;
	const struct event_row *list;
	uint64_t said;

	lines_read(&all_rows);
	CHECK(!event_rows_open(trace_path, &all_rows, &rows));
	said = event_rows_count(rows);
	for (int i = 0; i < JUMPS; i++) {
		event_rows_get(rows, trace_below(EVENTS), ROWS_MAX, &list);
		event_rows_at(rows, trace_below(EVENTS * 500));
	}
	CHECK_EQUAL(event_rows_step(rows, UINT64_MAX), 0);
	CHECK_EQUAL(event_rows_count(rows), lines.count);
	check_jumps(rows);
	check_times(rows);
	event_rows_close(rows);
	return said - lines.count;
}

TEST(what_is_damaged_is_no_row)
{
	struct event_rows_options options;
	size_t missing = 0;

	for (uint64_t seed = 20; seed < 40; seed++) {
		write_trace(seed);
		damage(1 + trace_below(5));
		missing += check_guesses();
		options = make_filter();
		check_filter(&options);
		trace_end();
	}
	CHECK(missing);
}

static const struct ev_header *found(uint64_t time_ns, uint32_t thread)
{
	static struct ev_thread_found e;

	e = (struct ev_thread_found){
		.header = { .time_ns = time_ns,
			    .thread = thread,
			    .subsys = TRACE_SUBSYS_THREAD,
			    .event = TRACE_EVENT_THREAD_FOUND },
		.tid = thread,
		.pid = 1,
		.phase = PHASE_RUNNING,
		.cpu = thread % 4,
		.name = "found",
	};
	return &e.header;
}

/* Of a flight recorder, which repeats who lives, also those whom a reader knows. */
static void write_ring(uint64_t seed)
{
	struct trace_ring_options ring = { .size_bytes = 64 << 10 };
	struct trace_writer *writer;
	uint64_t time_ns = 1000;

	trace_begin();
	trace_seed = seed;
	CHECK(!trace_writer_open_ring(trace_path, &ring, &writer));
	for (int i = 0; i < EVENTS; i++) {
		time_ns += 1 + trace_below(1000);
		if (!i || trace_writer_wants_epoch(writer)) {
			trace_writer_begin_epoch(writer);
			for (uint32_t k = 0; k < 20; k++)
				trace_writer_repeat(writer, found(time_ns, 1 + k % 15));
			trace_writer_end_prologue(writer);
		}
		if (!trace_below(50))
			trace_writer_repeat(writer, found(time_ns, 1 + trace_below(30)));
		trace_writer_event(writer, trace_make_event(time_ns));
		if (!trace_below(FLUSH_ONE_IN))
			trace_writer_flush(writer, UINT64_MAX, 0);
	}
	CHECK(!trace_writer_close(writer));
}

TEST(what_a_flight_recorder_repeats_is_one_row)
{
	struct event_rows_options options;
	size_t repeated = 0;

	for (uint64_t seed = 50; seed < 60; seed++) {
		write_ring(seed);
		repeated += check_guesses();
		if (seed % 2) {
			damage(1 + trace_below(5));
			check_guesses();
		}
		options = make_filter();
		check_filter(&options);
		trace_end();
	}
	CHECK(repeated);
}

/* More than readers let in: the rest has no rows. */
TEST(threads_that_are_too_many_have_no_rows)
{
	struct trace_writer *writer;
	struct event_rows *rows;

	trace_begin();
	CHECK(!trace_writer_open(trace_path, &writer));
	for (uint32_t i = 0; i < 2 * THREADS; i++)
		trace_writer_event(writer, found(1000 + i, 1 + i % (THREADS + THREADS / 2)));
	CHECK(!trace_writer_close(writer));
	lines_read(&all_rows);
	CHECK_THAT(lines.count, <, 2 * THREADS);
	CHECK(!event_rows_open(trace_path, &all_rows, &rows));
	CHECK_EQUAL(event_rows_step(rows, UINT64_MAX), 0);
	CHECK_EQUAL(event_rows_count(rows), lines.count);
	check_jumps(rows);
	event_rows_close(rows);
	trace_end();
}
