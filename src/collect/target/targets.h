/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the processes that the user names: by number, by name, by control group.
 *
 * Owns: whom to trace: processes, control groups, commands that are started.
 * Used by: collect, options, live, outside, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pid_list {
	uint32_t *pids; /* distinct; heap, the caller frees it with pid_list_fini() */
	size_t count;
};

void pid_list_fini(struct pid_list *list);

/* Unless it is in it. */
void pid_list_add(struct pid_list *list, uint32_t pid);

/*
 * Each adds to list; 0, or a negative errno after a message. Of numbers, "12" or "12,13", those that no process has
 * are added to gone instead.
 */
int targets_by_pid(const char *text, struct pid_list *list, struct pid_list *gone);
int targets_by_name(const char *name, struct pid_list *list); /* comm or base name of the program */
/*
 * Those of a control group and of those below it; in *fd its directory, the caller's to close.
 */
int targets_by_cgroup(const char *directory, struct pid_list *list, int *fd);
int targets_all(struct pid_list *list); /* all with a program of their own */

/*
 * Adds those that processes of the list have started, and those that these have started, and so on, as far as they run
 * a program and are not in list themselves.
 */
void targets_find_descendants(const struct pid_list *list, struct pid_list *descendants);

/* Of a control group's directory: adds those that are in it now. */
void targets_in_cgroup(int fd, struct pid_list *list);

/* Whether there is such a process. */
bool targets_is_there(uint32_t pid);
