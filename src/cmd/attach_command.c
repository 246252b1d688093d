/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <signal.h>

#include "base/fail.h"
#include "base/text.h"
#include "cmd/attach_metrics.h"
#include "cmd/run_command.h"
#include "engine/run_events.h"
#include "live/live.h"
#include "live/tracing.h"
#include "options/settings.h"
#include "serve/metrics_server.h"
#include "tui/tui.h"

static int set_metrics(struct settings *settings, const char *argument)
{
	settings->metrics_address = argument;
	return metrics_server_check(argument);
}

static const struct option_spec metrics_options[] = {
	{ "metrics", 0, "ADDRESS", "give metrics to Prometheus while tracing, at :PORT of 127.0.0.1; 0: a free port",
	  set_metrics },
	{ 0 },
};

static const struct option_spec *const options[] = {
	target_options, trace_options, watch_options, metrics_options, report_options,
	html_options,   table_options, quiet_options, common_options,  NULL,
};

static void put_command(struct text *text, int argc, char **argv)
{
	text_put(text, "pinch");
	for (int i = 0; i < argc; i++) {
		text_put(text, " ");
		text_put(text, argv[i]);
	}
}

/* Shows it while it goes on, and then until the user has seen enough. */
static int watch_processes(struct tracing *tracing, const struct settings *settings, const struct outcome *outcome)
{
	struct live *live;
	pid_t sender;
	int err;

	err = live_open(
		&(struct live_options){
			.tracing = tracing,
			.settings = settings,
			.outcome = outcome,
			.command = outcome->command + sizeof("pinch"),
			.output_fd = -1,
		},
		&live);
	if (err)
		return err;
	while (!live_wants_quit(live)) {
		live_step(live, &sender);
		if (!live_is_over(live) &&
		    (live_wants_end(live) || tracing_is_time_over(tracing) || tracing_is_target_gone(tracing)))
			live_end(live);
	}
	live_close(live);
	return 0;
}

static void trace_to_end(struct tracing *tracing)
{
	int signal_number = 0;
	pid_t sender;

	while (!tracing_is_time_over(tracing) && !tracing_is_target_gone(tracing) &&
	       (!signal_number || signal_number == SIGCHLD))
		signal_number = tracing_step(tracing, &sender);
}

static int trace_processes(struct tracing *tracing, const struct settings *settings, int argc, char **argv)
{
	struct attach_metrics *metrics = NULL;
	struct text command = { 0 };
	struct outcome outcome = {
		.pids = settings->targets.pids,
		.pid_count = settings->targets.count,
		.exit_status = -1,
	};
	int err;

	put_command(&command, argc, argv);
	outcome.command = command.bytes;
	tracing_begin(tracing, &outcome);
	err = tracing_add_processes(tracing, &settings->targets);
	if (!err)
		err = tracing_begin_trace(tracing);
	if (!err && settings->metrics_address)
		err = attach_metrics_open(tracing, &outcome, settings->metrics_address, &metrics);
	if (err)
		goto out_fini;
	tracing_start(tracing, false);
	if (settings->has_tui)
		err = watch_processes(tracing, settings, &outcome);
	else if (metrics)
		attach_metrics_trace(metrics);
	else
		trace_to_end(tracing);
	tracing_restore_signals();
	if (!err)
		err = tracing_report(tracing, &outcome);

out_fini:
	attach_metrics_close(metrics);
	text_fini(&command);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

int attach_traced(const struct settings *settings, int argc, char **argv)
{
	struct tracing *tracing = NULL;
	int status = EXIT_FAILED;

	if (settings->has_tui && settings->metrics_address) {
		fail_plain(-EINVAL, "--tui and --metrics exclude each other");
		return EXIT_USAGE;
	}
	if (settings->has_tui && tui_check())
		return EXIT_USAGE;
	if (!tracing_open(settings, &tracing))
		status = trace_processes(tracing, settings, argc, argv);
	tracing_close(tracing);
	return status;
}

static int attach_run(int argc, char **argv)
{
	struct settings settings;
	int rest, err, status = EXIT_USAGE;

	settings_init(&settings);
	err = settings_parse(&settings, &attach_command, argc, argv, &rest);
	if (err) {
		status = err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (settings.wants_help) {
		command_help(&attach_command);
		status = 0;
	} else if (rest < argc || !settings.has_target) {
		fail_plain(-EINVAL, "no process given: pinch attach -p PID, -n NAME, --cgroup DIR or --all%s%s",
			   rest < argc ? ", not " : "", rest < argc ? argv[rest] : "");
	} else {
		status = attach_traced(&settings, argc, argv);
	}
	settings_fini(&settings);
	return status;
}

const struct command attach_command = {
	.name = "attach",
	.is_privileged = true,
	.usage = "[options] -p PID... | -n NAME | --cgroup DIR | --all",
	.summary = "Trace a running process until it ends, Ctrl-C or --duration",
	.description = "Child processes are traced, too: those that run already and those to come. The first\n"
		       "Ctrl-C ends the tracing and shows the report, the second one ends pinch.",
	.options = options,
	.run = attach_run,
};
