/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the processes that the user names: by number, by name, by control group.
 *
 * Owns: whom to trace: processes, control groups, commands that are started.
 * Used by: collect, options, live, cmd.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct pid_list {
	uint32_t *pids; /* distinct; heap, the caller frees it with pid_list_fini() */
	size_t count;
};

void pid_list_fini(struct pid_list *list);

/* Each adds to list; 0, or a negative errno after a message. */
int targets_by_pid(const char *text, struct pid_list *list);         /* "12" or "12,13" */
int targets_by_name(const char *name, struct pid_list *list);        /* comm or base name of the program */
int targets_by_cgroup(const char *directory, struct pid_list *list); /* and those below it */
int targets_all(struct pid_list *list);                              /* all with a program of their own */

/* How many processes are children of those in the list, run a program and are not in it themselves. */
size_t targets_count_children(const struct pid_list *list);
