/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/fail.h"

#include <stdio.h>
#include <string.h>

static void (*message_prologue)(void);

void fail_set_prologue(void (*prologue)(void))
{
	message_prologue = prologue;
}

/* One write for each message, so that lines of several processes do not mix. */
static void message(const char *kind, int err, const char *format, va_list args)
{
	char line[2048];
	int n = snprintf(line, sizeof(line), "pinch: %s", kind);

	n += vsnprintf(line + n, sizeof(line) - n, format, args);
	if (n > (int)sizeof(line) - 200)
		n = sizeof(line) - 200;
	if (err)
		n += snprintf(line + n, sizeof(line) - n, ": %s", strerror(-err));
	line[n++] = '\n';
	if (message_prologue)
		message_prologue();
	fflush(stdout);
	fwrite(line, 1, n, stderr);
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
