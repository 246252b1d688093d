/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that record events of their own, found and opened from outside; and areas of ended ones, which are files.
 *
 * Owns: programs with libpinchtrace, as somebody outside sees them.
 * Used by: cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct area;
struct event_names;
struct pid_list;

struct outside_program {
	uint32_t pid; /* in this PID namespace; 0: it has ended */
	char *path;   /* of the area, as the process named it; any bytes */
	int fd;       /* of the area, writable if that was wanted; the area's own */
	struct area *area;
	struct event_names *names;
};

struct outside_programs {
	struct outside_program *list;
	size_t count, capacity;
};

void outside_programs_fini(struct outside_programs *programs);

/*
 * Adds the areas of these processes, and says which cannot be opened; with is_quiet, not. 0, or the negative errno of the
 * last one that has none.
 */
int outside_programs_find(struct outside_programs *programs, const struct pid_list *pids, bool is_writable,
			  bool is_quiet);

/* Adds the area in a file. 0, or a negative errno after a message. */
int outside_programs_open(struct outside_programs *programs, const char *path);

/*
 * Adds the areas of ended processes in a directory: those that no process has mapped, and that the user may read. 0, or a
 * negative errno after a message.
 */
int outside_programs_find_ended(struct outside_programs *programs, const char *directory);
