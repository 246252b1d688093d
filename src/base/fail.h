/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Saying what went wrong, once. Convention of the whole tree: functions return 0 or a
 * negative errno; the frame that knows the name of the thing calls fail().
 */
#pragma once

#include <stdarg.h>

/*
 * Prints "pinch: <message>: <strerror(-err)>" to stderr and returns err. With err == 0
 * or -EINVAL-like codes that add nothing, use fail_plain().
 */
int fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The same without the error's text. */
int fail_plain(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints "pinch: warning: <message>" to stderr. */
void warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Where messages go instead of stderr, each a line with its newline, as long as something else is
 * drawn on the terminal. NULL: to stderr.
 */
void fail_set_sink(void (*sink)(const char *line));

/* Called before each message; clears a status line that is on the terminal. NULL: nothing. */
void fail_set_prologue(void (*prologue)(void));
