/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/fail.h"
#include "cmd/command.h"
#include "collect/machine.h"

enum { CHECKS_MAX = 32 };

static int check_run(int argc, char **argv)
{
	struct machine_check checks[CHECKS_MAX];
	size_t count, missing = 0;
	struct utsname name;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		command_help(&check_command);
		return 0;
	}
	if (argc > 1) {
		fail_plain(-1, "pinch check takes no arguments, such as '%s'", argv[1]);
		return EXIT_USAGE;
	}
	count = machine_check(checks, CHECKS_MAX);
	for (size_t i = 0; i < count; i++)
		missing += checks[i].is_needed && !checks[i].is_met;
	uname(&name);
	printf("pinch %s on Linux %s: %s\n\n", PINCH_VERSION, name.release,
	       missing ? "cannot trace here" : "ready to trace");
	for (size_t i = 0; i < count; i++) {
		printf("  %-8s %s: %s\n",
		       checks[i].is_met ? "ok" : checks[i].is_needed ? "MISSING" : "limited",
		       checks[i].what, checks[i].found);
		if (!checks[i].is_met)
			printf("           to get it: %s\n", checks[i].remedy);
	}
	return missing ? EXIT_FAILED : 0;
}

const struct command check_command = {
	.name = "check",
	.usage = "",
	.summary = "Tell what this machine supports, what it lacks and how to get it",
	.description = "Tries each thing that pinch needs. Exit status 1 when tracing is impossible.",
	.run = check_run,
};
