/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "options/command.h"

#include <string.h>

const struct command *const commands[] = {
	&run_command,           &attach_command,
	&record_command,        &report_command,
	&dump_command,          &cut_command,
	&merge_command,         &graph_command,
	&critical_path_command, &spans_command,
	&compare_command,       &whatif_command,
	&klock_command,         &trace_command,
	&scope_command,         &clocks_command,
	&check_command,         &view_command,
	&export_command,        &agent_command,
	&help_command,          NULL,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}
