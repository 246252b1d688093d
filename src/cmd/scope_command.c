/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/fail.h"
#include "cmd/run_command.h"
#include "cmd/scope_sessions.h"
#include "collect/target/launch.h"
#include "live/serving.h"
#include "options/settings.h"

static const struct option_spec *const options[] = {
	scope_options, target_options, start_options, trace_options, quiet_options, common_options, NULL,
};

static int serve(struct settings *settings, struct inheritance *inheritance, int argc, char **argv, int rest)
{
	if (serving_check(&settings->stream))
		return EXIT_USAGE;
	if (settings->has_target && rest < argc) {
		fail_plain(-EINVAL, "give either running processes or a command, not both: %s", argv[rest]);
		return EXIT_USAGE;
	}
	if (settings->has_target && settings->user) {
		fail_plain(-EINVAL, "--user is for a command that pinch starts, not for running processes");
		return EXIT_USAGE;
	}
	if (settings->has_target)
		return attach_traced(settings, argc, argv);
	if (rest == argc)
		return scope_sessions(settings);
	return run_traced(settings, inheritance, argv + rest);
}

static int scope_run(int argc, char **argv)
{
	struct inheritance inheritance;
	struct settings settings;
	int rest, err, status = EXIT_USAGE;

	inheritance_take(&inheritance);
	settings_init(&settings);
	settings.is_recording = true;
	settings.stream.listen = "127.0.0.1:7466";
	err = settings_parse(&settings, &scope_command, argc, argv, &rest);
	if (err) {
		status = err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (settings.wants_help) {
		command_help(&scope_command);
		status = 0;
	} else {
		status = serve(&settings, &inheritance, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

const struct command scope_command = {
	.name = "scope",
	.is_privileged = true,
	.has_command = true,
	.usage =
		"[options] -p PID... | -n NAME | --cgroup DIR | --all\n       pinch scope [options] [--] COMMAND [ARG...]\n"
		"       pinch scope [--listen ADDRESS]",
	.summary = "Trace and serve the trace over the network, to any number of readers",
	.description =
		"Traces like pinch record. Whoever connects receives a trace, from then on: nc HOST PORT > FILE\n"
		"is enough, and pinch report tcp:HOST:PORT reads it at once. Readers that are too slow lose\n"
		"events, which are counted; nobody waits for them. Without a target, it serves what all other\n"
		"sessions of the machine trace (run, attach, record, scope), as one trace.",
	.options = options,
	.run = scope_run,
};
