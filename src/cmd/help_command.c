/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>

#include "base/fail.h"
#include "options/command.h"

static void overview(void)
{
	printf("pinch finds what keeps the threads of a running program from working.\n\n"
	       "Usage: pinch COMMAND [options]\n\n");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-14s %s\n", commands[i]->name, commands[i]->summary);
	printf("\nStart with:  pinch run -- ./your-program\n"
	       "`pinch help COMMAND` has the options; `pinch --version` prints the version.\n");
}

static int help_run(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2 || argv[1][0] == '-') {
		overview();
		return 0;
	}
	command = command_find(argv[1]);
	if (!command) {
		fail_plain(-EINVAL, "there is no command '%s'; see pinch help", argv[1]);
		return EXIT_USAGE;
	}
	command_help(command);
	return 0;
}

const struct command help_command = {
	.name = "help",
	.usage = "[COMMAND]",
	.summary = "Show how to use pinch or one of its commands",
	.description = "Without an argument, lists the commands.",
	.run = help_run,
};
