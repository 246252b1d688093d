/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal UI without a terminal: keys go in, lines of text come out. Owns the model; borrows
 * what is set until it is set again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "tui/model.h"

/* Full: nothing is cut. Below the least size it is only said that there is no space. */
enum { UI_COLUMNS_FULL = 80, UI_LINES_FULL = 24, UI_COLUMNS_MIN = 20, UI_LINES_MIN = 5 };

struct ui;

/* What is known without a report. */
struct ui_status {
	const char *command; /* what is traced, for the first line */
	uint64_t time_ns;    /* traced so far, or in all */
	uint64_t threads, active, lost;
	bool is_over;            /* nothing is traced any more */
	bool is_command_running; /* one that was started for this */
	int exit_status;         /* of it; -1: none */
};

struct ui *ui_new(const struct model_options *options);
void ui_free(struct ui *ui);

void ui_set_report(struct ui *ui, const struct report *report);
void ui_set_status(struct ui *ui, const struct ui_status *status);
void ui_set_size(struct ui *ui, uint32_t columns, uint32_t lines);
void ui_note_output(struct ui *ui);

/* Shown until the next key is pressed; copied. */
void ui_set_message(struct ui *ui, const char *message);

void ui_press(struct ui *ui, uint32_t key);

/* The mouse was pressed there: a tab leads to its page; a row gets the cursor, or is unfolded if it has it. */
void ui_click(struct ui *ui, uint32_t column, uint32_t line);

/* The user wants no newer figures. */
bool ui_is_paused(const struct ui *ui);
bool ui_wants_quit(const struct ui *ui);
/* Once for each time it was wished for. */
bool ui_takes_redraw(struct ui *ui);

/* What is shown waits for a graph: draw it, then make that, which may last. */
bool ui_wants_graph(const struct ui *ui);
void ui_make_graph(struct ui *ui);

/* A search goes on: go on with it soon. */
bool ui_is_searching(const struct ui *ui);
void ui_search_on(struct ui *ui);

enum ui_look { LOOK_PLAIN, LOOK_CURSOR, LOOK_BAR, LOOK_TITLES };

struct ui_line {
	struct text text; /* as a page makes it; not wider than the screen */
	enum ui_look look;
};

/* As many lines as the screen has; valid until the next call. */
const struct ui_line *ui_compose(struct ui *ui);

/* Something may have changed since it was asked last. */
bool ui_takes_change(struct ui *ui);

struct model *ui_model(struct ui *ui);
