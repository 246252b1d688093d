/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal UI: shows a report, and newer ones in its place, as long as the user wants. Never
 * waits: the caller does, for standard input and tui_wait_ms(). There is one, as the terminal is.
 *
 * Owns: the screen, and what keys do.
 * Used by: show, live, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tui/rows/pages.h"

struct fold_rules;
struct graphs_source;
struct output_lines;
struct report;
struct tui;
struct ui_status;

struct tui_options {
	const struct fold_rules *fold;      /* borrowed */
	const struct output_lines *output;  /* borrowed; NULL: there is no command */
	const struct graphs_source *graphs; /* copied; of a trace; NULL: there is none */
	enum page_number first_page;
};

/* Whether there is a terminal for it. -ENOTTY, after a message, when there is none. */
int tui_check(void);

/*
 * Takes the terminal; from here on messages of fail() and warn() are shown on it, and printed once
 * it is given back. Signals of the terminal must be blocked.
 */
int tui_open(const struct tui_options *options, struct tui **out);
void tui_close(struct tui *tui);

/* Borrowed until the next one. */
void tui_set_report(struct tui *tui, const struct report *report);
void tui_set_status(struct tui *tui, const struct ui_status *status);
void tui_set_message(struct tui *tui, const char *message);
void tui_note_output(struct tui *tui);

/* The terminal has another size; is to be given back for a while (SIGTSTP); is back (SIGCONT). */
void tui_resize(struct tui *tui);
void tui_suspend(struct tui *tui);
void tui_resume(struct tui *tui);

/* Takes in what was typed and draws what has changed. */
void tui_update(struct tui *tui);

/* How soon there is something to do, whatever is typed; -1: not at all. */
int tui_wait_ms(const struct tui *tui);

bool tui_is_paused(const struct tui *tui);

/* The user wants to leave, or the terminal has gone. */
bool tui_wants_quit(const struct tui *tui);
