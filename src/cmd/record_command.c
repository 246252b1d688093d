/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "base/fail.h"
#include "base/text.h"
#include "cmd/record_command.h"
#include "cmd/record_scopes.h"
#include "cmd/run_command.h"
#include "cmd/trace_source.h"
#include "collect/target/launch.h"
#include "options/settings.h"
#include "scope/address.h"

enum { RING_BYTES_MIN = 1 << 20, LAST_NS_MIN = 1000000000 };

static int set_output(struct settings *settings, const char *argument)
{
	settings->trace_path = argument;
	return 0;
}

static int set_ring(struct settings *settings, const char *argument)
{
	uint64_t *size_bytes = &settings->ring.size_bytes;

	if (size_parse(argument, size_bytes) || *size_bytes < RING_BYTES_MIN)
		return fail_plain(-EINVAL,
				  "--ring takes a size of at least 1M with its unit, such as "
				  "500M or 1G, not '%s'",
				  argument);
	return 0;
}

static int set_last(struct settings *settings, const char *argument)
{
	uint64_t *last_ns = &settings->ring.last_ns;

	if (duration_parse(argument, last_ns) || *last_ns < LAST_NS_MIN)
		return fail_plain(-EINVAL,
				  "--last takes a duration of at least 1s with its unit, such as "
				  "60s or 5min, not '%s'",
				  argument);
	return 0;
}

static int set_critical_slices(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->kernel.slice_stacks = true;
	return 0;
}

static int set_clock(struct settings *settings, const char *argument)
{
	struct clock_settings *clocks = &settings->clocks;

	if (clocks->peer_count == CLOCK_PEERS_MAX)
		return fail_plain(-EINVAL, "--clock can be given %d times at most", CLOCK_PEERS_MAX);
	clocks->peers[clocks->peer_count++] = argument;
	return 0;
}

const struct option_spec record_options[] = {
	{ "output", 'o', "FILE", "the trace (default: trace.pinch)", set_output },
	{ "ring", 0, "SIZE", "keep the last SIZE bytes, such as 1G: new data overwrites the oldest", set_ring },
	{ "last", 0, "TIME", "keep what happened in the last TIME, such as 60s", set_last },
	{ "critical-slices", 0, NULL, "record all call paths that pinch report --critical-slices needs",
	  set_critical_slices },
	{ "clock", 0, "HOST", "also record the clock of HOST[:PORT], for pinch merge; may be repeated", set_clock },
	{ 0 },
};

static const struct option_spec *const options[] = {
	record_options, target_options, start_options,  trace_options,
	quiet_options,  stream_options, common_options, NULL,
};

static bool are_streams(char *const *arguments, int count)
{
	for (int i = 0; i < count; i++)
		if (!address_is_stream(arguments[i]))
			return false;
	return true;
}

int record_traced(struct settings *settings, struct inheritance *inheritance, int argc, char **argv, int rest)
{
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
	if (rest < argc && are_streams(argv + rest, argc - rest))
		return argc - rest == 1 ? trace_source_record(settings, argv[rest])
					: record_scopes(settings, argv + rest, argc - rest);
	if (rest == argc) {
		fail_plain(-EINVAL, "nothing to trace given: pinch record [options] -- COMMAND [ARG...], or -p PID "
				    "and the like");
		return EXIT_USAGE;
	}
	return run_traced(settings, inheritance, argv + rest);
}

static int record_run(int argc, char **argv)
{
	struct inheritance inheritance;
	struct settings settings;
	int rest, err, status = EXIT_USAGE;

	inheritance_take(&inheritance);
	settings_init(&settings);
	settings.is_recording = true;
	settings.trace_path = "trace.pinch";
	err = settings_parse(&settings, &record_command, argc, argv, &rest);
	if (err) {
		status = err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	} else if (settings.wants_help) {
		command_help(&record_command);
		status = 0;
	} else {
		status = record_traced(&settings, &inheritance, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

const struct command record_command = {
	.name = "record",
	.is_privileged = true,
	.has_command = true,
	.usage =
		"[options] [--] COMMAND [ARG...]\n       pinch record [options] -p PID... | -n NAME | "
		"--cgroup DIR | --all\n       pinch record [options] tcp:HOST:PORT... | tls:HOST:PORT... | unix:PATH...",
	.summary = "Trace into a file, for pinch report here or on another machine",
	.description = "Traces like pinch run or pinch attach, and writes the events to a file instead of showing\n"
		       "a report. However pinch ends, the file is readable up to half a second before that.\n"
		       "tcp:HOST:PORT, tls:HOST:PORT and unix:PATH are the trace of a pinch scope; several of them\n"
		       "are merged into one trace, also of several hosts, whose clocks are asked meanwhile.",
	.options = options,
	.run = record_run,
};
