/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "base/fail.h"
#include "base/memory.h"
#include "cmd/check_trace.h"
#include "cmd/trace_source.h"
#include "collect/target/machine.h"
#include "options/settings.h"

enum { CHECKS_MAX = 32 };

static int check_machine(void)
{
	struct machine_check *checks = xcalloc(CHECKS_MAX, sizeof(*checks));
	size_t count, missing = 0;
	struct utsname name;

	count = machine_check(checks, CHECKS_MAX);
	for (size_t i = 0; i < count; i++)
		missing += checks[i].is_needed && !checks[i].is_seen;
	uname(&name);
	printf("pinch %s on Linux %s: %s\n\n", PINCH_VERSION, name.release,
	       missing ? "cannot trace here" : "ready to trace");
	for (size_t i = 0; i < count; i++) {
		printf("  %-8s %s: %s\n",
		       checks[i].is_seen     ? "ok"
		       : checks[i].is_needed ? "MISSING"
					     : "limited",
		       checks[i].what, checks[i].found);
		if (!checks[i].is_seen)
			printf("           to get it: %s\n", checks[i].remedy);
	}
	free(checks);
	return missing ? EXIT_FAILED : 0;
}

static int check_source(const struct settings *settings, const char *argument)
{
	struct trace_source source;
	int err, status;

	err = trace_source_open(settings, argument, &source);
	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	status = check_trace(source.path, argument);
	trace_source_close(&source);
	return status;
}

static int check_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (settings_parse(&settings, &check_command, argc, argv, &rest))
		goto out_fini;
	status = 0;
	if (settings.wants_help) {
		command_help(&check_command);
	} else if (rest + 1 < argc) {
		fail_plain(-EINVAL, "pinch check takes one trace or no argument, not '%s'", argv[rest + 1]);
		status = EXIT_USAGE;
	} else {
		status = rest < argc ? check_source(&settings, argv[rest]) : check_machine();
	}

out_fini:
	settings_fini(&settings);
	return status;
}

static const struct option_spec *const options[] = { receive_options, stream_options, common_options, NULL };

const struct command check_command = {
	.name = "check",
	.is_privileged = true,
	.usage = "[[options] FILE]",
	.summary = "Check what this machine supports, or whether a trace is complete",
	.description = "Without FILE, tries each feature that pinch needs; exit status 1 if tracing is impossible.\n"
		       "With FILE, reads and verifies the whole trace; exit status 1 if anything is missing.\n"
		       "tcp:HOST:PORT, tls:HOST:PORT and unix:PATH are the trace of a pinch scope.",
	.options = options,
	.run = check_run,
};
