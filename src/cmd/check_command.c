/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/fail.h"
#include "cmd/check_trace.h"
#include "collect/target/machine.h"
#include "options/command.h"

enum { CHECKS_MAX = 32 };

static int check_machine(void)
{
	struct machine_check checks[CHECKS_MAX];
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
	return missing ? EXIT_FAILED : 0;
}

static int check_run(int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		command_help(&check_command);
		return 0;
	}
	if (argc > 2 || (argc > 1 && argv[1][0] == '-')) {
		fail_plain(-1, "pinch check takes one trace or no argument, not '%s'", argv[argc > 2 ? 2 : 1]);
		return EXIT_USAGE;
	}
	return argc > 1 ? check_trace(argv[1]) : check_machine();
}

const struct command check_command = {
	.name = "check",
	.is_privileged = true,
	.usage = "[FILE]",
	.summary = "Check what this machine supports, or whether a trace is complete",
	.description = "Without FILE, tries each feature that pinch needs; exit status 1 if tracing is impossible.\n"
		       "With FILE, reads and verifies the whole trace; exit status 1 if anything is missing.",
	.run = check_run,
};
