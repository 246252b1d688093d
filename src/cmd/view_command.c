/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/fail.h"
#include "cmd/record_command.h"
#include "cmd/trace_source.h"
#include "cmd/view_live.h"
#include "cmd/view_pair.h"
#include "cmd/view_page.h"
#include "collect/target/launch.h"
#include "engine/trace_open.h"
#include "options/settings.h"
#include "scope/address.h"
#include "serve/viewer_follow.h"
#include "serve/viewer_load.h"
#include "trace/trace_reader.h"
#include "trace/trace_ring.h"

/* A file that is read, and that somebody may still be writing. */
struct read_file {
	struct trace_reader *trace;
};

static bool is_being_written(void *data)
{
	const struct read_file *file = data;

	return trace_reader_is_being_written(file->trace);
}

/* Until it is whole, or nobody writes it. */
static int follow(struct view_page *page, struct read_file *file, const char *name)
{
	char message[VIEWER_MESSAGE_BYTES];
	int err;

	if (trace_reader_extent(file->trace)->is_ended || !is_being_written(file))
		return 0;
	err = viewer_follow(page->viewer, &(struct viewer_writer){ is_being_written, file, 0 }, &page->waiter);
	if (!err || err == -ECANCELED || !viewer_has_any(page->viewer))
		return err;
	snprintf(message, sizeof(message), err == -ESTALE ? "%s has become shorter" : "%s cannot be read to its end",
		 name);
	viewer_stop(page->viewer, message);
	view_page_wait(page);
	return -ECANCELED;
}

static int look(struct view_page *page, struct read_file *file, const char *name)
{
	int err = follow(page, file, name);

	if (!err)
		err = viewer_load(page->viewer, &page->waiter, true);
	if (!err)
		view_page_wait(page);
	return err == -ECANCELED ? 0 : err;
}

static int view_trace(const struct settings *settings, const char *path, const char *name)
{
	struct viewer_options options = {
		.path = path,
		.name = name,
		.opens_files = settings->opens_files,
		.scripts = settings->scripts,
		.script_count = settings->script_count,
	};
	struct view_page page = { 0 };
	struct read_file file;
	int err = trace_open(path, &file.trace); /* before a browser is opened */

	if (err)
		return EXIT_FAILED;
	view_page_hold_signals();
	err = view_page_open(&page, &options, settings);
	if (!err)
		err = look(&page, &file, name);
	view_page_close(&page);
	trace_reader_close(file.trace);
	return err ? EXIT_FAILED : 0;
}

static int view_source(const struct settings *settings, const char *argument)
{
	struct trace_source source;
	int err = trace_source_open(settings, argument, &source), status;

	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	status = view_trace(settings, source.path, argument);
	trace_source_close(&source);
	return status;
}

/* How many words stand behind the first "--", before options are taken out of them. */
static int count_behind_dashes(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--"))
			return argc - i - 1;
	return 0;
}

/* command_words: those that can be a command and its arguments. */
static int view(struct settings *settings, struct inheritance *inheritance, int argc, char **argv, int rest,
		int command_words)
{
	bool has_command = rest < argc && !strcmp(argv[rest - 1], "--");

	if (!strcmp(settings->trace_path, "-")) {
		fail_plain(-EINVAL,
			   "what is viewed while it is recorded cannot go to standard output: give a file to -o");
		return EXIT_USAGE;
	}
	if (has_command && argc - rest > command_words) {
		fail_plain(-EINVAL, "a command is viewed alone, and %s stands before its --: leave out one of them",
			   argv[rest]);
		return EXIT_USAGE;
	}
	if (settings->compares_executions &&
	    (settings->has_target || has_command || rest + 1 != argc || address_is_stream(argv[rest]))) {
		fail_plain(-EINVAL, "--compare compares executions of one trace file: record it first, then pinch view "
				    "--compare FILE");
		return EXIT_USAGE;
	}
	if (settings->has_target || has_command || (rest + 1 == argc && address_is_stream(argv[rest])))
		return view_live(settings, inheritance, argc, argv, rest);
	if (rest + 1 != argc && rest + 2 != argc) {
		fail_plain(-EINVAL, "%s: pinch view [options] FILE, FILE FILE, or -- COMMAND [ARG...]",
			   rest == argc ? "no trace given" : "at most two traces can be viewed at a time");
		return EXIT_USAGE;
	}
	if (settings->trace_path[0] || trace_ring_is_asked(&settings->ring)) {
		fail_plain(-EINVAL, "-o, --ring and --last are for what is recorded, not for %s", argv[rest]);
		return EXIT_USAGE;
	}
	if (geteuid() && capabilities_drop()) {
		fail_plain(-EPERM, "cannot drop the capabilities of this binary");
		return EXIT_FAILED;
	}
	if (rest + 2 == argc)
		return view_pair(settings, argv + rest);
	return view_source(settings, argv[rest]);
}

static int view_run(int argc, char **argv)
{
	struct inheritance inheritance;
	struct settings settings;
	int rest, err, status = EXIT_USAGE, command_words = count_behind_dashes(argc, argv);

	inheritance_take(&inheritance);
	settings_init(&settings);
	settings.trace_path = ""; /* one that is gone with the page */
	err = settings_parse(&settings, &view_command, argc, argv, &rest);
	if (err) {
		status = err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (settings.wants_help) {
		command_help(&view_command);
		status = 0;
	} else if (door_check(&settings.door)) {
		status = EXIT_USAGE;
	} else {
		status = view(&settings, &inheritance, argc, argv, rest, command_words);
	}
	settings_fini(&settings);
	return status;
}

static int set_port(struct settings *settings, const char *argument)
{
	char *end;
	unsigned long port = strtoul(argument, &end, 10);

	if (argument[0] < '0' || argument[0] > '9' || *end || port > UINT16_MAX)
		return fail_plain(-EINVAL, "--port takes a number from 0 to %u, not '%s'", UINT16_MAX, argument);
	settings->port = port;
	settings->has_port = true;
	return 0;
}

static int set_compare(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->compares_executions = true;
	return 0;
}

static const struct option_spec view_options[] = {
	{ "compare", 0, NULL, "compare groups of the executions of one FILE: slow ones with fast ones", set_compare },
	{ "port", 0, "PORT", "where on 127.0.0.1 the page is (default: 7462 or the next free one)", set_port },
	{ 0 },
};

static const struct option_spec *const options[] = {
	view_options,  door_options,  script_options, names_options,  record_options, target_options,
	start_options, trace_options, stream_options, common_options, NULL,
};

const struct command view_command = {
	.name = "view",
	.is_privileged = true,
	.usage =
		"[options] FILE [FILE]\n       pinch view [options] -- COMMAND [ARG...]\n       pinch view [options] -p PID... | -n NAME | "
		"--cgroup DIR | --all\n       pinch view [options] tcp:HOST:PORT | tls:HOST:PORT | unix:PATH",
	.summary = "Look at a trace in a browser: what each thread did when, and why it waited",
	.description =
		"Serves a page on this machine, prints a link to it, and opens it if there is a browser. Each link\n"
		"can be used once; then there is another one. Ctrl-C ends it. A command, processes that run and the\n"
		"trace of a pinch scope are recorded, as pinch record does, and shown meanwhile: the first Ctrl-C\n"
		"ends that. So is a file that is still being written. Two files are shown one above the other, and\n"
		"compared.",
	.options = options,
	.run = view_run,
};
