/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to a report, for the commands that take them: a new command, what runs already, or a trace.
 *
 * Owns: the commands, a file each.
 * Used by: nobody.
 */
#pragma once

struct inheritance;
struct settings;

/*
 * Starts and traces a command, whose inheritance was taken before anything else was done. Returns an exit
 * status after having said what went wrong.
 */
int run_traced(const struct settings *settings, struct inheritance *inheritance, char *const *arguments);

/* Traces the targets of the settings; argv is the command line of pinch. The same. */
int attach_traced(const struct settings *settings, int argc, char **argv);

/* Reports what a trace says. The same. */
int report_traced(const struct settings *settings, const char *path);
