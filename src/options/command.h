/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A subcommand and its options. Help, parsing and the test of the man pages read the same
 * table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct settings;

struct option_spec {
	const char *name;     /* without dashes */
	char letter;          /* '\0': none */
	const char *argument; /* "FILE"; NULL: takes none */
	const char *help;
	/* 0, or -EINVAL after having said what is wrong with the argument. */
	int (*set)(struct settings *settings, const char *argument);
};

struct command {
	const char *name, *usage, *summary, *description;
	const struct option_spec *const *options; /* lists, the last one NULL */
	bool is_privileged;                /* it examines this machine, and keeps what capabilities the binary has */
	bool has_command;                  /* the first argument may be one to run, whose options are its own */
	int (*run)(int argc, char **argv); /* argv[0] is the command's name; exit status */
};

/* Ends with NULL. */
extern const struct command *const commands[];

extern const struct command run_command, attach_command, record_command, report_command, klock_command, dump_command,
	cut_command, merge_command, graph_command, critical_path_command, spans_command, compare_command,
	whatif_command, trace_command, scope_command, clocks_command, check_command, view_command, export_command,
	agent_command, help_command;

const struct command *command_find(const char *name);

/* Prints how the command is used, to standard output. */
void command_help(const struct command *command);

/* Exit statuses of pinch itself; `pinch run` passes on its command's. */
enum {
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_CONDITION = 3,      /* of `pinch compare`: one holds of --fail-if */
	EXIT_PINCH_FAILED = 125, /* of `pinch run`, like env(1) and timeout(1) */
	EXIT_CANNOT_EXECUTE = 126,
	EXIT_NOT_FOUND = 127,
};
