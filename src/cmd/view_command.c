/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "cmd/trace_source.h"
#include "engine/trace_open.h"
#include "options/settings.h"
#include "query/trace_states_make.h"
#include "serve/browser.h"
#include "serve/http_server.h"
#include "serve/viewer.h"
#include "trace/trace_reader.h"

static const uint64_t look_interval_ns = 50000000;

/* Those that end it are blocked from here on, in all threads, and waited for. */
static void block_signals(sigset_t *ends)
{
	sigemptyset(ends);
	sigaddset(ends, SIGINT);
	sigaddset(ends, SIGTERM);
	sigaddset(ends, SIGHUP);
	pthread_sigmask(SIG_BLOCK, ends, NULL);
}

struct loading {
	struct states_waiter waiter;
	sigset_t ends;
};

static void look_for_signals(void *data)
{
	struct loading *loading = data;

	if (sigtimedwait(&loading->ends, NULL, &(struct timespec){ 0 }) > 0)
		loading->waiter.is_cancelled = true;
}

static int load_and_wait(struct viewer *viewer, const sigset_t *ends)
{
	struct loading loading = { .ends = *ends };
	int err, number;

	loading.waiter.pause = (struct pause){ look_for_signals, &loading, look_interval_ns, 0 };
	err = viewer_load(viewer, &loading.waiter);
	if (!err)
		sigwait(ends, &number);
	return err == -ECANCELED ? 0 : err;
}

static int view_trace(const struct settings *settings, const char *path, const char *name)
{
	struct viewer *viewer = viewer_new(&(struct viewer_options){
		.path = path,
		.name = name,
		.opens_files = settings->opens_files,
		.scripts = settings->scripts,
		.script_count = settings->script_count,
	});
	struct http_server *server = NULL;
	char link[HTTP_LINK_BYTES];
	sigset_t ends;
	int err;

	block_signals(&ends);
	err = http_server_open(settings->port, &(struct http_answers){ viewer_answer, viewer }, &server);
	if (!err) {
		http_server_link(server, link);
		fprintf(stderr, "pinch: %s; Ctrl-C ends it\n", link);
		browser_open(link);
		err = load_and_wait(viewer, &ends);
	}
	http_server_close(server);
	viewer_free(viewer);
	return err ? EXIT_FAILED : 0;
}

/* Before a browser is opened. */
static int check_trace(const char *path)
{
	struct trace_reader *reader;
	int err = trace_open(path, &reader);

	if (!err)
		trace_reader_close(reader);
	return err;
}

static int view_source(const struct settings *settings, const char *argument)
{
	struct trace_source source;
	int err = trace_source_open(settings, argument, &source), status = EXIT_FAILED;

	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	if (!check_trace(source.path))
		status = view_trace(settings, source.path, argument);
	trace_source_close(&source);
	return status;
}

static int view_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (settings_parse(&settings, &view_command, argc, argv, &rest))
		goto out_fini;
	status = 0;
	if (settings.wants_help) {
		command_help(&view_command);
	} else if (rest + 1 != argc) {
		fail_plain(-EINVAL, "no trace given: pinch view [options] FILE");
		status = EXIT_USAGE;
	} else {
		status = view_source(&settings, argv[rest]);
	}

out_fini:
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
	return 0;
}

static const struct option_spec view_options[] = {
	{ "port", 0, "PORT", "where on 127.0.0.1 the page is (default: a port that is free)", set_port },
	{ 0 },
};

static const struct option_spec *const options[] = {
	view_options, script_options, names_options, receive_options, stream_options, common_options, NULL,
};

const struct command view_command = {
	.name = "view",
	.usage = "[options] FILE",
	.summary = "Look at a trace in a browser: what each thread did when, and why it waited",
	.description =
		"Serves a page on this machine, prints a link to it, and opens it if there is a browser. Each link\n"
		"can be used once; then there is another one. Ctrl-C ends it. tcp:HOST:PORT, tls:HOST:PORT and\n"
		"unix:PATH are the trace of a pinch scope.",
	.options = options,
	.run = view_run,
};
