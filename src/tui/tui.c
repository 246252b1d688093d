/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/tui.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "tui/screen.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/mouse.h"
#include "tui/ui.h"

enum { MESSAGE_BYTES_MAX = 65536, KEYS_AT_ONCE = 1000 };

/* No more pictures than can be seen. */
static const uint64_t draw_interval_ns = 15000000;

struct tui {
	struct ui *ui;
	uint32_t columns, lines;
	bool is_size_stale, is_picture_stale, is_due, is_gone;
	uint64_t drawn_ns;
	struct text messages; /* to be printed at the end */
};

/* For fail() and warn(), which have no argument for it. */
static struct tui *receiver;

static void on_message(const char *line)
{
	struct text plain = { 0 };

	if (receiver->messages.length < MESSAGE_BYTES_MAX)
		text_put(&receiver->messages, line);
	text_put_bytes(&plain, line, strcspn(line, "\n"));
	ui_set_message(receiver->ui, plain.bytes);
	text_fini(&plain);
}

int tui_check(void)
{
	return screen_check();
}

int tui_open(const struct tui_options *options, struct tui **out)
{
	bool has_unicode = screen_has_unicode(); /* before ncurses examines the locale */
	struct tui *tui;
	int err = screen_open();

	if (err)
		return err;
	tui = xcalloc(1, sizeof(*tui));
	tui->ui = ui_new(&(struct model_options){
		.fold = options->fold,
		.output = options->output,
		.graphs = options->graphs,
		.has_color = true,
		.has_unicode = has_unicode,
	});
	model_go_to(ui_model(tui->ui), options->first_page);
	tui->is_size_stale = true;
	receiver = tui;
	fail_set_sink(on_message);
	*out = tui;
	return 0;
}

void tui_close(struct tui *tui)
{
	if (!tui)
		return;
	screen_close();
	fail_set_sink(NULL);
	receiver = NULL;
	if (tui->messages.length)
		fwrite(tui->messages.bytes, 1, tui->messages.length, stderr);
	text_fini(&tui->messages);
	ui_free(tui->ui);
	free(tui);
}

void tui_set_report(struct tui *tui, const struct report *report)
{
	ui_set_report(tui->ui, report);
}

void tui_set_status(struct tui *tui, const struct ui_status *status)
{
	ui_set_status(tui->ui, status);
}

void tui_set_message(struct tui *tui, const char *message)
{
	ui_set_message(tui->ui, message);
}

void tui_note_output(struct tui *tui)
{
	ui_note_output(tui->ui);
}

void tui_resize(struct tui *tui)
{
	tui->is_size_stale = true;
}

void tui_suspend(struct tui *tui)
{
	screen_suspend();
	kill(getpid(), SIGSTOP);
	tui_resume(tui);
}

void tui_resume(struct tui *tui)
{
	screen_resume();
	tui->is_size_stale = true;
}

/* A terminal that is gone can be read from at any time, and gives nothing. */
static bool is_gone(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	int count = 0;

	if (poll(&input, 1, 0) != 1)
		return false;
	if (input.revents & (POLLHUP | POLLERR | POLLNVAL))
		return true;
	return input.revents & POLLIN && !ioctl(STDIN_FILENO, FIONREAD, &count) && !count;
}

static void read_keys(struct tui *tui)
{
	struct mouse_place place = { 0 };
	uint32_t key;

	for (int i = 0; i < KEYS_AT_ONCE && (key = screen_read_key(&place)); i++) {
		if (key == KEY_CODE_CLICK)
			ui_click(tui->ui, place.column, place.line);
		else
			ui_press(tui->ui, key);
	}
	tui->is_gone |= is_gone();
}

static void draw(struct tui *tui)
{
	bool is_anew = ui_takes_redraw(tui->ui);

	if (tui->is_size_stale) {
		screen_resize(&tui->columns, &tui->lines);
		ui_set_size(tui->ui, tui->columns, tui->lines);
		tui->is_size_stale = false;
		is_anew = true;
	}
	screen_draw(ui_compose(tui->ui), tui->lines, is_anew);
	tui->drawn_ns = clock_ns();
}

void tui_update(struct tui *tui)
{
	read_keys(tui);
	if (ui_is_searching(tui->ui))
		ui_search_on(tui->ui);
	tui->is_picture_stale |= ui_takes_change(tui->ui) || tui->is_size_stale;
	if (!tui->is_picture_stale || clock_ns() - tui->drawn_ns < draw_interval_ns)
		return;
	tui->is_picture_stale = false;
	draw(tui);
	if (!ui_wants_graph(tui->ui))
		return;
	ui_make_graph(tui->ui);
	tui->is_picture_stale = true;
}

int tui_wait_ms(const struct tui *tui)
{
	uint64_t since_ns = clock_ns() - tui->drawn_ns;

	if (ui_is_searching(tui->ui))
		return 0;
	if (!tui->is_picture_stale)
		return -1;
	return since_ns < draw_interval_ns ? (int)((draw_interval_ns - since_ns) / 1000000 + 1) : 0;
}

bool tui_is_paused(const struct tui *tui)
{
	return ui_is_paused(tui->ui);
}

bool tui_wants_quit(const struct tui *tui)
{
	return tui->is_gone || ui_wants_quit(tui->ui);
}
