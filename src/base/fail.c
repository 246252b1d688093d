/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/fail.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

static void (*message_prologue)(void);
static void (*message_sink)(const char *line);

void fail_set_sink(void (*sink)(const char *line))
{
	message_sink = sink;
}

void fail_set_prologue(void (*prologue)(void))
{
	message_prologue = prologue;
}

/* As the system says it; and which of two limits it may be, where that is not clear. */
static const char *reason_of(int err)
{
	return err == -EFBIG ? "File too large: more than ulimit -f or the file system allows" : strerror(-err);
}

/*
 * One write for each message, so that lines of several processes do not mix. Names in it may
 * be a traced program's or a file's: none of them can drive the terminal.
 */
static void message(const char *kind, int err, const char *format, va_list args)
{
	struct text line = { 0 };
	char plain[2048];

	vsnprintf(plain, sizeof(plain), format, args);
	text_printf(&line, "pinch: %s", kind);
	text_put_escaped(&line, plain);
	if (err)
		text_printf(&line, ": %s", reason_of(err));
	text_put(&line, "\n");
	if (message_prologue)
		message_prologue();
	if (message_sink) {
		message_sink(line.bytes);
	} else {
		fflush(stdout);
		fwrite(line.bytes, 1, line.length, stderr);
	}
	text_fini(&line);
}

int fail(int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("", err, format, args);
	va_end(args);
	return err;
}

int fail_plain(int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("", 0, format, args);
	va_end(args);
	return err;
}

void warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message("warning: ", 0, format, args);
	va_end(args);
}
