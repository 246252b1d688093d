/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user asked for, and how it is read from the command line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cmd/command.h"
#include "collect/kernel.h"
#include "collect/targets.h"

struct dump_options {
	bool is_json, has_thread;
	uint32_t thread;
	uint64_t from_ns, to_ns;	/* since the first event; 0: no limit */
};

struct settings {
	struct kernel_options kernel;
	uint64_t duration_ns;		/* 0: until the end */
	uint32_t path_count_max;	/* --top */
	bool has_path_count;		/* it was given */
	const char *json_path, *text_path;	/* NULL: not asked for; text goes to the terminal then */
	const char *trace_path;		/* NULL: no trace is written */
	bool is_recording;		/* for a trace alone: no text unless it is asked for */
	bool is_reporting;		/* nothing is traced: text goes to standard output */
	uint32_t pages;			/* --page; 0: the text as a whole */
	bool is_quiet, is_verbose, has_tui, wants_help;
	bool is_spin_inactive;		/* threads that spin are not counted as active */
	/* attach only */
	struct pid_list targets;
	bool has_target;
	struct dump_options dump;	/* dump only */
};

void settings_init(struct settings *settings);
void settings_fini(struct settings *settings);

/*
 * Reads the options in argv[1..]. 0 and the index of the first other argument in *rest, or
 * -EINVAL or what a setter returned, after having said what is wrong.
 */
int settings_parse(struct settings *settings, const struct command *command, int argc,
		   char **argv, int *rest);

/* The argument of an option as a number; -EINVAL after having said what the option takes. */
int number_parse(const char *option, const char *argument, unsigned long min, unsigned long max,
		 uint32_t *number);

/*
 * Options in common: of all that trace; of those that show it as it goes on; of all that report; of
 * both.
 */
extern const struct option_spec trace_options[], watch_options[], report_options[], quiet_options[];

/* Those of every command; the last list. */
extern const struct option_spec common_options[];

/* Whom to trace that runs already. */
extern const struct option_spec target_options[];
