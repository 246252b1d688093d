/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "derive/cut_threads.h"
#include "derive/derived_trace.h"
#include "engine/carried_names.h"
#include "engine/trace_open.h"
#include "options/settings.h"
#include "session/event_kinds.h"
#include "trace/prologue/prologue.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

struct cut {
	const char *path;
	struct trace_reader *reader;
	struct trace_writer *writer;
	struct prologue *prologue;
	struct prologue_out out;
	struct cut_threads *threads; /* NULL: all */
	struct space_numbers *written;
	struct carried_names *names;
	uint64_t from_ns, to_ns; /* as the events have it */
	bool has_begun;
	bool is_stopped;            /* before the end of the trace */
	uint64_t last_ns;           /* of what was written */
	struct ev_collect_end *end; /* of the trace; NULL: it has none */
	size_t damaged_count;
};

static bool is_end(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_COLLECT && header->event == TRACE_EVENT_COLLECT_END;
}

static void write_event(void *data, const struct ev_header *header)
{
	struct cut *cut = data;

	trace_writer_event(cut->writer, header);
	space_numbers_follow(cut->written, header);
	if (header->time_ns > cut->last_ns)
		cut->last_ns = header->time_ns;
}

static bool is_chosen(void *data, const struct ev_header *header)
{
	const struct cut *cut = data;

	return !cut->threads || cut_threads_have(cut->threads, header);
}

/* What is repeated is changed, too. */
static void emit(void *data, const struct ev_header *header)
{
	struct cut *cut = data;

	if (cut->threads && header->subsys == TRACE_SUBSYS_THREAD && header->event == TRACE_EVENT_THREAD_FOUND)
		header = cut_threads_change(cut->threads, cut->prologue, header, &cut->out);
	if (!header)
		return;
	write_event(cut, header);
	if (header->subsys == TRACE_SUBSYS_SPACE)
		carried_names_pair(cut->names, ((const struct ev_space_found *)header)->pid);
}

static void put_event(struct cut *cut, const struct ev_header *header)
{
	const struct ev_header *changed = header;

	if (cut->threads)
		changed = cut_threads_change(cut->threads, cut->prologue, header, &cut->out);
	if (changed) {
		prologue_refer(cut->prologue, changed, &cut->out);
		write_event(cut, changed);
	}
	prologue_follow(cut->prologue, header, changed);
	if (cut->threads && cut_threads_is_orphan(cut->threads, header))
		prologue_emit_mappings(cut->prologue, ((const struct ev_space_fork *)header)->pid, header->time_ns,
				       &cut->out);
}

static void keep_end(struct cut *cut, const struct ev_header *header)
{
	size_t size_bytes = event_bytes(header);

	free(cut->end);
	cut->end = memcpy(xcalloc(1, size_bytes), header, size_bytes);
}

static void take_event(struct cut *cut, const struct ev_header *header)
{
	if (is_end(header)) {
		keep_end(cut, header);
		cut->is_stopped |= cut->end->ended_ns > cut->to_ns;
		return;
	}
	cut->is_stopped |= header->time_ns >= cut->to_ns;
	if (cut->is_stopped)
		return;
	if (!cut->has_begun && header->time_ns >= cut->from_ns) {
		cut->has_begun = true;
		if (cut->from_ns)
			prologue_begin(cut->prologue, cut->from_ns, &cut->out);
	}
	if (cut->has_begun)
		put_event(cut, header);
	else
		prologue_follow(cut->prologue, header, false);
	carried_names_follow(cut->names, header);
}

static int take_events(struct cut *cut)
{
	const struct ev_header *header;
	bool has_skipped = false;
	int got;

	while ((got = trace_reader_next(cut->reader, &header))) {
		if (got == 1)
			take_event(cut, header);
		else if (got == -EBADMSG)
			cut->damaged_count++;
		else
			return fail(got, "cannot read %s", cut->path);
		/* Behind what is cut off only the end is of interest. */
		if (cut->is_stopped && !has_skipped)
			trace_reader_seek(cut->reader, trace_reader_extent(cut->reader)->last_ns);
		has_skipped = cut->is_stopped;
		if (trace_writer_error(cut->writer))
			return 0; /* said when it is closed */
	}
	return 0;
}

static void put_end(struct cut *cut)
{
	bool is_part = cut->is_stopped || cut->from_ns || cut->threads;
	struct ev_collect_end *e = NULL;

	if (!is_part) {
		if (cut->end)
			trace_writer_event(cut->writer, &cut->end->header);
	} else if (cut->is_stopped) {
		e = derived_end(cut->end, cut->to_ns, false);
	} else if (cut->end) {
		e = derived_end(cut->end, cut->end->ended_ns, true);
	}
	if (!e)
		return;
	if (e->header.time_ns < cut->last_ns)
		e->header.time_ns = cut->last_ns;
	trace_writer_event(cut->writer, &e->header);
	free(e);
}

static int report_damage(const struct cut *cut)
{
	const struct trace_extent *extent = trace_reader_extent(cut->reader);
	struct text left_out = { 0 };

	if (trace_put_left_out(cut->reader, &left_out))
		warn("%s: %s", cut->path, left_out.bytes);
	text_fini(&left_out);
	if (!cut->damaged_count && !extent->unread_bytes)
		return 0;
	return fail_plain(-EBADMSG, "%s is damaged: the unreadable parts are left out; pinch check lists them",
			  cut->path);
}

/* What is read is open, and what it is written to is not. */
static int cut_into(struct cut *cut, const char *path)
{
	struct text info = { 0 };
	struct table *notes = table_new();
	int err;

	derived_info(cut->reader, &info);
	err = derived_open(path, &info, &cut->writer);
	text_fini(&info);
	if (err)
		goto out_free;
	err = take_events(cut);
	if (err) {
		trace_writer_discard(cut->writer);
		goto out_free;
	}
	put_end(cut);
	cut->damaged_count += carried_names_copy(cut->names, cut->reader, cut->writer, notes);
	err = derived_close(cut->writer, path);
	if (!err)
		err = report_damage(cut);

out_free:
	table_free(notes);
	return err;
}

/* A time of the range, since the first event; UINT64_MAX stays. */
static uint64_t since_first(uint64_t time_ns, const struct time_range *range, const struct trace_extent *extent)
{
	if (!range->is_monotonic || time_ns == UINT64_MAX)
		return time_ns;
	return time_ns > extent->first_ns ? time_ns - extent->first_ns : 0;
}

static int check_range(const struct time_range *range, const struct cut *cut)
{
	const struct trace_extent *extent = trace_reader_extent(cut->reader);
	uint64_t from_ns = since_first(range->from_ns, range, extent);
	struct text length = { 0 };
	int err = 0;

	if (range->is_monotonic && range->from_ns && extent->begins_late && range->from_ns < extent->first_ns) {
		text_put_duration(&length, extent->first_ns - range->from_ns);
		err = fail_plain(-ESTALE,
				 "%s is a flight recorder's, which has overwritten the begin of that: it begins %s "
				 "later",
				 cut->path, length.bytes);
		text_fini(&length);
	} else if (from_ns > extent->last_ns - extent->first_ns) {
		text_put_duration(&length, extent->last_ns - extent->first_ns);
		err = fail_plain(-EINVAL, "%s ends earlier: it is %s long", cut->path, length.bytes);
		text_fini(&length);
	}
	return err;
}

static void cut_init(struct cut *cut, const struct time_range *range)
{
	const struct trace_extent *extent = trace_reader_extent(cut->reader);
	uint64_t from_ns = since_first(range->from_ns, range, extent), to_ns = since_first(range->to_ns, range, extent);

	cut->from_ns = from_ns ? extent->first_ns + from_ns : 0;
	cut->to_ns = to_ns < UINT64_MAX - extent->first_ns ? extent->first_ns + to_ns : UINT64_MAX;
	cut->prologue = prologue_new();
	cut->out = (struct prologue_out){ emit, cut, is_chosen };
	cut->written = space_numbers_new();
	cut->names = carried_names_new(cut->written);
}

static void cut_fini(struct cut *cut)
{
	cut_threads_free(cut->threads);
	carried_names_free(cut->names);
	space_numbers_free(cut->written);
	prologue_free(cut->prologue);
	free(cut->end);
	if (cut->reader)
		trace_reader_close(cut->reader);
}

static int cut_trace(const struct settings *settings, const char *path)
{
	const struct thread_words *threads = &settings->threads;
	struct cut cut = { .path = path };
	int err = trace_open(path, &cut.reader);

	if (err)
		return EXIT_FAILED;
	cut_init(&cut, &settings->range);
	err = check_range(&settings->range, &cut);
	if (!err && threads->count)
		err = cut_threads_new(cut.reader, path, threads->words, threads->count, &cut.threads);
	if (!err)
		err = cut_into(&cut, settings->trace_path);
	cut_fini(&cut);
	return err ? EXIT_FAILED : 0;
}

static int cut_checked(const struct settings *settings, int argc, char **argv, int rest)
{
	if (rest + 1 != argc || !settings->trace_path) {
		fail_plain(-EINVAL, "no trace, or no -o OUT, given: pinch cut [options] -o OUT FILE");
		return EXIT_USAGE;
	}
	if (settings->range.to_ns <= settings->range.from_ns) {
		fail_plain(-EINVAL, "--to must be later than --from");
		return EXIT_USAGE;
	}
	return cut_trace(settings, argv[rest]);
}

static int cut_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &cut_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&cut_command);
		else
			status = cut_checked(&settings, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

static int set_monotonic(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->range.is_monotonic = true;
	return 0;
}

static const struct option_spec cut_options[] = {
	{ "monotonic", 0, NULL, "the times of --from and --to are of CLOCK_MONOTONIC, not since the first event",
	  set_monotonic },
	{ 0 },
};

static const struct option_spec *const options[] = {
	made_trace_options, range_options, cut_options, thread_options, common_options, NULL,
};

const struct command cut_command = {
	.name = "cut",
	.usage = "[options] -o OUT FILE",
	.summary = "Cut a part out of a trace: a time range, some threads",
	.description = "OUT is what a trace of only this time range and these threads would have been.",
	.options = options,
	.run = cut_run,
};
