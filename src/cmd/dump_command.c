/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "activity/decode/script_tables.h"
#include "activity/script_table_json.h"
#include "base/fail.h"
#include "base/json.h"
#include "base/text.h"
#include "cmd/activity_line.h"
#include "cmd/statistics_text.h"
#include "cmd/trace_source.h"
#include "engine/trace_open.h"
#include "options/settings.h"
#include "rows/event_line.h"
#include "rows/row_choice.h"
#include "rows/row_reader.h"
#include "session/thread_cpus.h"
#include "trace/trace_reader.h"
#include "view/output.h"

enum { WRITTEN_AT_ONCE_BYTES = 64 << 10 };

struct dump {
	const struct dump_options *options;
	const char *path;
	struct row_choice *choice;
	struct row_reader *rows;
	struct trace_reader *reader;
	struct thread_cpus *cpus; /* of a log */
	uint64_t first_ns;
	struct text out;      /* not written yet */
	size_t damaged_count; /* of chunks */
};

static int write_out(struct dump *dump)
{
	int err = output_write("-", &dump->out);

	dump->out.length = 0;
	return err;
}

static void put_line(struct dump *dump, const struct event_line *line)
{
	switch (dump->options->form) {
	case DUMP_JSON:
		event_line_put_json(&dump->out, line);
		break;
	case DUMP_LOG:
		event_line_put_log(&dump->out, line);
		break;
	case DUMP_TEXT:
		event_line_put(&dump->out, line);
		break;
	}
}

static int flush(struct dump *dump)
{
	return dump->out.length < WRITTEN_AT_ONCE_BYTES ? 0 : write_out(dump);
}

static int put_event(struct dump *dump, struct event_line *line)
{
	const struct ev_header *known = trace_reader_known(dump->reader);

	if (dump->cpus && known) {
		thread_cpus_follow(dump->cpus, known);
		line->cpu = thread_cpus_find(dump->cpus, known->thread);
	}
	if (dump->options->list != DUMP_EVENTS)
		row_choice_follow(dump->choice, known);
	else if (row_choice_take(dump->choice, known, line))
		put_line(dump, line);
	return flush(dump);
}

static void put_activity(void *data, const struct activity *activity)
{
	struct dump *dump = data;
	const struct event_context *context = row_choice_context(dump->choice);

	if (dump->options->list != DUMP_ACTIVITIES)
		return;
	if (dump->options->form == DUMP_JSON)
		activity_line_put_json(&dump->out, activity, context);
	else
		activity_line_put(&dump->out, activity, context, dump->first_ns);
}

static void put_table(struct dump *dump, const struct script_table *table)
{
	struct json json;

	if (dump->options->form != DUMP_JSON) {
		statistics_text_put(&dump->out, table);
		return;
	}
	json_init(&json, &dump->out);
	script_table_put_json(&json, table);
	json_fini(&json);
}

static void put_tables(struct dump *dump)
{
	const struct script_tables *tables = row_choice_tables(dump->choice);
	const struct script_table *table;

	for (size_t i = 0; (table = script_tables_get(tables, i)); i++)
		put_table(dump, table);
}

static int put_events(struct dump *dump)
{
	struct event_line line;
	int got, err = 0;

	while (!err && (got = row_reader_next(dump->rows, &line))) {
		if (got == 1)
			err = put_event(dump, &line);
		else if (got == -EBADMSG)
			dump->damaged_count++;
		else
			err = fail(got, "cannot read %s", dump->path);
	}
	row_choice_finish(dump->choice);
	if (dump->options->list == DUMP_STATISTICS)
		put_tables(dump);
	return err ? err : write_out(dump);
}

/* What is missing is reported after what is there. */
static int report_missing(const struct dump *dump)
{
	const struct trace_extent *extent = trace_reader_extent(dump->reader);
	struct text left_out = { 0 };

	if (trace_put_left_out(dump->reader, &left_out))
		warn("%s: %s", dump->path, left_out.bytes);
	text_fini(&left_out);
	if (extent->unread_bytes)
		warn("%s is truncated or damaged: its last %llu bytes were not read", dump->path,
		     (unsigned long long)extent->unread_bytes);
	else if (!extent->is_ended)
		warn("%s has no end: its writer was killed, or is still writing", dump->path);
	if (row_reader_undescribed(dump->rows))
		warn("%s: %llu events were left out: the trace does not describe their kinds", dump->path,
		     (unsigned long long)row_reader_undescribed(dump->rows));
	if (!dump->damaged_count)
		return 0;
	return fail_plain(-EBADMSG, "%s is damaged: %zu part%s left out", dump->path, dump->damaged_count,
			  dump->damaged_count == 1 ? " was" : "s were");
}

static int open_choice(struct dump *dump, const struct settings *settings, const char *path)
{
	struct row_choice_options options = {
		.filter = settings->filter,
		.scripts = settings->scripts,
		.script_count = settings->script_count,
		.sink = { settings->dump.list == DUMP_EVENTS ? NULL : put_activity, dump },
	};

	options.filter.from_ns = settings->range.from_ns;
	options.filter.to_ns = settings->range.to_ns;
	return row_choice_open(&options, dump->reader, path, &dump->choice);
}

/* path: where it is; name: as the user calls it. */
static int dump_trace(const struct settings *settings, const char *path, const char *name)
{
	struct dump dump = {
		.options = &settings->dump,
		.path = name,
	};
	int err = output_check("-");

	if (!err)
		err = row_reader_open(path, &dump.rows);
	if (err)
		return EXIT_FAILED;
	signal(SIGPIPE, SIG_IGN);
	dump.reader = row_reader_trace(dump.rows);
	dump.first_ns = trace_reader_extent(dump.reader)->first_ns;
	if (dump.options->form == DUMP_LOG)
		dump.cpus = thread_cpus_new();
	err = open_choice(&dump, settings, path);
	if (err)
		goto out_close;
	err = put_events(&dump);
	if (!err)
		err = report_missing(&dump);
	if (!err)
		err = row_choice_report(dump.choice, path);

out_close:
	row_choice_close(dump.choice);
	text_fini(&dump.out);
	thread_cpus_free(dump.cpus);
	row_reader_close(dump.rows);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static int dump_source(const struct settings *settings, const char *argument)
{
	struct trace_source source;
	int err, status;

	err = trace_source_open(settings, argument, &source);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	status = dump_trace(settings, source.path, argument);
	trace_source_close(&source);
	return status;
}

static int dump_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (settings_parse(&settings, &dump_command, argc, argv, &rest))
		goto out_fini;
	status = 0;
	if (settings.wants_help) {
		command_help(&dump_command);
	} else if (rest + 1 != argc) {
		fail_plain(-EINVAL, "no trace given: pinch dump [options] FILE");
		status = EXIT_USAGE;
	} else if (settings.dump.list == DUMP_STATISTICS && !settings.script_count) {
		fail_plain(-EINVAL, "--statistics needs a script that makes some: --script FILE");
		status = EXIT_USAGE;
	} else {
		status = dump_source(&settings, argv[rest]);
	}

out_fini:
	settings_fini(&settings);
	return status;
}

static int set_json(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->dump.form = DUMP_JSON;
	return 0;
}

static int set_log(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->dump.form = DUMP_LOG;
	return 0;
}

static int set_activities(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->dump.list = DUMP_ACTIVITIES;
	return 0;
}

static int set_statistics(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->dump.list = DUMP_STATISTICS;
	return 0;
}

static const struct option_spec dump_options[] = {
	{ "json", 0, NULL, "print each event as a JSON object", set_json },
	{ "log", 0, NULL, "print plain lines for awk: CPU, time, event and its values", set_log },
	{ "activities", 0, NULL, "print activities, one per line, instead of events", set_activities },
	{ "statistics", 0, NULL, "print the tables that scripts make of all events", set_statistics },
	{ 0 },
};

static const struct option_spec *const options[] = {
	dump_options, range_options, filter_options, receive_options, stream_options, common_options, NULL,
};

const struct command dump_command = {
	.name = "dump",
	.usage = "[options] FILE",
	.summary = "Print the events of a trace, one per line",
	.description = "Each line has the seconds since the first event, the number of the thread, the event\n"
		       "and its fields. A program's own events (libpinchtrace) have the names that it gave\n"
		       "them. In a damaged trace, the intact parts are printed. tcp:HOST:PORT, tls:HOST:PORT\n"
		       "and unix:PATH are the trace of a pinch scope.",
	.options = options,
	.run = dump_run,
};
