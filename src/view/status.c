/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/status.h"

#include <poll.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/text.h"

static const uint64_t redraw_interval_ns = 200000000;

/* One for the process: the hook in fail() has no argument, and the terminal is one too. */
static struct {
	bool is_on, is_drawn;
	uint64_t due_ns;
} status;

/* A terminal that does not take the bytes gets none: tracing must not wait for it. */
static void terminal_put(const char *bytes, size_t count)
{
	struct pollfd terminal = { .fd = STDERR_FILENO, .events = POLLOUT };

	/* A terminal that the user has stopped (Ctrl-S) would stop the tracing, too. */
	if (poll(&terminal, 1, 0) != 1 || !(terminal.revents & POLLOUT))
		return;
	if (write(STDERR_FILENO, bytes, count) < 0)
		status.is_drawn = false;
}

void status_start(void)
{
	if (!isatty(STDERR_FILENO))
		return;
	status.is_on = true;
	status.due_ns = clock_ns() + redraw_interval_ns;
	fail_set_prologue(status_clear);
}

bool status_is_due(void)
{
	return status.is_on && clock_ns() >= status.due_ns;
}

void status_format(const struct status_counts *counts, uint32_t columns, struct text *text)
{
	size_t begin = text->length;

	text_put(text, "pinch: ");
	if (counts->time_ns < 100000000000)
		text_printf(text, "%.1f s", counts->time_ns / 1e9);
	else
		text_put_duration(text, counts->time_ns);
	text_put(text, "  ");
	text_put_count(text, counts->threads);
	text_put(text, counts->threads == 1 ? " thread  " : " threads  ");
	if (counts->parallelism >= 0)
		text_printf(text, "parallelism %.1f  ", counts->parallelism);
	text_put_count(text, counts->events);
	text_put(text, counts->events == 1 ? " event  " : " events  ");
	text_put_count(text, counts->lost);
	text_put(text, " lost");
	if (text->length - begin > columns) { /* all of it is ASCII */
		text->length = begin + columns;
		text->bytes[text->length] = '\0';
	}
}

void status_show(const struct status_counts *counts)
{
	struct text text = { 0 };
	struct winsize size;
	uint32_t columns = 80;

	if (!status.is_on)
		return;
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		columns = size.ws_col;
	/* A line that fills the last column makes some terminals go on to the next one. */
	text_put(&text, "\r");
	status_format(counts, columns - 1, &text);
	text_put(&text, "\033[K");
	status.is_drawn = true;
	status.due_ns = clock_ns() + redraw_interval_ns;
	terminal_put(text.bytes, text.length);
	text_fini(&text);
}

void status_clear(void)
{
	if (status.is_drawn)
		terminal_put("\r\033[K", 4);
	status.is_drawn = false;
}

void status_stop(void)
{
	status_clear();
	if (status.is_on)
		fail_set_prologue(NULL);
	status.is_on = false;
}
