/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/fail.h"
#include "base/out/out_file.h"
#include "base/text.h"
#include "export/export_choice.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "graph/graph_label.h"
#include "lanes/asked_parts.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/trace_states.h"
#include "stacks/fold.h"

static void put_count(struct text *out, uint64_t count, const char *what)
{
	if (!count)
		return;
	text_put(out, out->length ? ", " : "");
	text_put_count(out, count);
	text_printf(out, " %s", what);
}

/* What was written, and what this format cannot carry. */
static void tell(const struct export_format *format, const struct export_counts *counts)
{
	struct text written = { 0 }, left_out = { 0 };

	put_count(&written, counts->slices, "states");
	put_count(&written, counts->wakes, "wake-ups");
	put_count(&written, counts->samples, "samples");
	put_count(&written, counts->events, "events");
	put_count(&written, counts->activities, "activities");
	if (counts->stacks_left_out_ns) {
		text_put_duration(&left_out, counts->stacks_left_out_ns);
		warn("there are too many call paths: [others] has %s of them", left_out.bytes);
	}
	warn("%s: %s; the format has no %s", format->name, written.length ? written.bytes : "nothing to write",
	     format->lacks);
	text_fini(&written);
	text_fini(&left_out);
}

static int open_out(const struct export_format *format, const char *path, struct export_out *out)
{
	int err = format->load ? format->load() : 0;

	path = path ? path : "-";
	if (err)
		return err;
	return format->is_directory ? export_out_open_directory(path, out)
				    : export_out_open(path, format->is_binary, out);
}

static int export_part(const struct settings *settings, const char *path, const struct trace_states *all,
		       const struct chosen_threads *chosen, const struct asked_parts *asked,
		       const struct fold_rules *fold)
{
	struct graph_labels *labels = trace_states_labels(all, fold, false);
	struct export_choice *choice = export_choice_new(all, labels, asked);
	struct export_options options = {
		.format = export_format_find(settings->export_format),
		.path = path,
		.from_ns = trace_states_time(all, settings->range.from_ns),
		.to_ns = trace_states_time(all, settings->range.to_ns),
		.threads = chosen->numbers,
		.thread_count = chosen->count,
		.labels = labels,
		.choice = choice,
	};
	struct export_counts counts;
	struct export_out out;
	int err = open_out(options.format, settings->text_path, &out), closed;

	if (!err) {
		err = export_run(all, &options, &out, &counts);
		closed = export_out_close(&out, !err);
		err = err ? err : closed;
	}
	if (!err)
		tell(options.format, &counts);
	export_choice_free(choice);
	graph_labels_free(labels);
	return err;
}

static int export_states(const struct settings *settings, const char *path, const struct trace_states *all)
{
	struct fold_rules *fold = fold_rules_new();
	struct chosen_threads chosen = { 0 };
	struct asked_parts asked;
	int err = fold_rules_add_user(fold);

	if (!err)
		err = asked_parts_read(settings, trace_states_time(all, 0), &asked);
	if (!err)
		err = chosen_threads_find(settings, path, all, &chosen);
	if (!err)
		err = export_part(settings, path, all, &chosen, &asked, fold);
	chosen_threads_fini(&chosen);
	fold_rules_free(fold);
	return err;
}

static int export_trace(const struct settings *settings, const char *path)
{
	struct trace_states all;
	int err;

	signal(SIGPIPE, SIG_IGN);
	err = trace_states_open(path, settings->opens_files, NULL, &all);
	if (err)
		return EXIT_FAILED;
	out_file_keep(path);
	err = export_states(settings, path, &all);
	trace_states_close(&all);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static void put_names(struct text *out)
{
	for (size_t i = 0; export_formats[i]; i++)
		text_printf(out, "%s%s", i ? ", " : "", export_formats[i]->name);
}

static int export_checked(const struct settings *settings, int argc, char **argv, int rest)
{
	struct text names = { 0 };

	if (rest + 1 == argc && settings->export_format) {
		if (settings->range.to_ns > settings->range.from_ns)
			return export_trace(settings, argv[rest]);
		fail_plain(-EINVAL, "--to must be later than --from");
		return EXIT_USAGE;
	}
	put_names(&names);
	fail_plain(-EINVAL, "no trace, or no format (%s), given: pinch export --format FORMAT [options] FILE",
		   names.bytes);
	text_fini(&names);
	return EXIT_USAGE;
}

static int export_run_command(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &export_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&export_command);
		else
			status = export_checked(&settings, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

static int set_format(struct settings *settings, const char *argument)
{
	struct text names = { 0 };
	int err = 0;

	settings->export_format = argument;
	if (!export_format_find(argument)) {
		put_names(&names);
		err = fail_plain(-EINVAL, "--format takes one of %s, not '%s'", names.bytes, argument);
		text_fini(&names);
	}
	return err;
}

static const struct option_spec export_options[] = {
	{ "format", 0, "FORMAT",
	  "perfetto, speedscope, folded, chrome, pprof, csv, firefox, ctf, parquet, otlp or rollup", set_format },
	{ "output", 'o', "FILE", "write to FILE, of ctf and parquet a directory; - is standard output (default)",
	  settings_set_output },
	{ 0 },
};

static const struct option_spec *const options[] = {
	export_options, range_options, thread_options, choice_options, cpu_options, names_options, common_options, NULL,
};

const struct command export_command = {
	.name = "export",
	.usage = "--format FORMAT [options] FILE",
	.summary = "Write a trace in a format of another tool",
	.description = "FILE is a trace of pinch record. Tools such as Perfetto, speedscope and pprof read what is\n"
		       "written. What the format cannot carry is said at the end.",
	.options = options,
	.run = export_run_command,
};
