/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two ways of tracing, for the commands that take them: a new command, or what runs already. */
#pragma once

struct inheritance;
struct settings;

/*
 * Starts and traces a command, whose inheritance was taken before anything else was done. Returns an exit
 * status after having said what went wrong.
 */
int run_traced(const struct settings *settings, struct inheritance *inheritance,
	       char *const *arguments);

/* Traces the targets of the settings; argv is the command line of pinch. The same. */
int attach_traced(const struct settings *settings, int argc, char **argv);
