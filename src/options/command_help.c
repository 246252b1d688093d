/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "options/command.h"

static void print_options(const struct option_spec *spec)
{
	for (; spec->name; spec++) {
		char left[40];
		int n;

		n = snprintf(left, sizeof(left), "%c%c%s --%s", spec->letter ? '-' : ' ',
			     spec->letter ? spec->letter : ' ', spec->letter ? "," : " ", spec->name);
		if (spec->argument)
			snprintf(left + n, sizeof(left) - n, " %s", spec->argument);
		printf("  %-26s %s\n", left, spec->help);
	}
}

void command_help(const struct command *command)
{
	printf("%s\n\nUsage: pinch %s%s%s\n\n%s\n", command->summary, command->name, *command->usage ? " " : "",
	       command->usage, command->description);
	if (!command->options || !command->options[0])
		return;
	printf("\nOptions:\n");
	for (size_t i = 0; command->options[i]; i++)
		print_options(command->options[i]);
}
