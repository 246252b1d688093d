/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A program or a library that the user names, by its path or by its name alone, among the files that processes map. */
#pragma once

#include <limits.h>
#include <stdbool.h>

struct file_stamp;

/* Whether a file that is mapped under this path may be it. */
bool chosen_file_may_be(const char *chosen, const char *path);

/* Whether an open file with such a path is it: a path leads to one file alone. */
bool chosen_file_is(const char *chosen, const struct file_stamp *stamp);

/*
 * Where it is before any process maps it, as a path without links: known if it is given by a path, or is the program of a command that
 * is going to be started, which is looked for as a shell does. program: NULL: there is none. False: unknown.
 */
bool chosen_file_find(const char *chosen, const char *program, char path[PATH_MAX]);

/* The same of a command's program. */
bool chosen_file_find_program(const char *program, char path[PATH_MAX]);
