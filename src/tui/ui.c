/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/ui.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tui/terminal/keys.h"
#include "tui/ui_internal.h"

enum { SEARCH_ROWS_AT_ONCE = 2000, WHEEL_ROWS = 3, SCREEN_LINES_MAX = 1000 };

struct ui *ui_new(const struct model_options *options)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));

	ui->options = *options;
	ui->model = model_new(options);
	ui->status.exit_status = -1;
	ui_set_size(ui, UI_COLUMNS_FULL, UI_LINES_FULL);
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	for (size_t i = 0; i < ui->composed_capacity; i++)
		text_fini(&ui->composed[i].text);
	free(ui->composed);
	free(ui->message);
	prompt_fini(&ui->prompt);
	model_free(ui->model);
	free(ui);
}

void ui_set_report(struct ui *ui, const struct report *report)
{
	model_set_report(ui->model, report);
	ui->has_changed = true;
}

void ui_set_status(struct ui *ui, const struct ui_status *status)
{
	ui->status = *status;
	ui->has_changed = true;
}

void ui_set_size(struct ui *ui, uint32_t columns, uint32_t lines)
{
	if (lines > SCREEN_LINES_MAX)
		lines = SCREEN_LINES_MAX;
	ui->columns = columns;
	ui->lines = lines;
	model_set_size(ui->model, columns, lines > LINES_ABOVE + LINES_BELOW ? lines - LINES_ABOVE - LINES_BELOW : 1);
	ui->has_changed = true;
}

void ui_note_output(struct ui *ui)
{
	model_note_output(ui->model);
	ui->has_changed |= model_page(ui->model) == PAGE_OUTPUT;
}

void ui_set_message(struct ui *ui, const char *message)
{
	free(ui->message);
	ui->message = message ? xstrdup(message) : NULL;
	ui->has_changed = true;
}

bool ui_is_paused(const struct ui *ui)
{
	return ui->is_paused;
}

bool ui_wants_quit(const struct ui *ui)
{
	return ui->wants_quit;
}

bool ui_takes_redraw(struct ui *ui)
{
	bool wants_redraw = ui->wants_redraw;

	ui->wants_redraw = false;
	return wants_redraw;
}

bool ui_takes_change(struct ui *ui)
{
	bool has_changed = ui->has_changed;

	ui->has_changed = false;
	return has_changed;
}

struct model *ui_model(struct ui *ui)
{
	return ui->model;
}

bool ui_wants_graph(const struct ui *ui)
{
	return model_wants_graph(ui->model);
}

void ui_make_graph(struct ui *ui)
{
	model_make_graph(ui->model);
	ui->has_changed = true;
}

bool ui_is_searching(const struct ui *ui)
{
	return ui->is_searching;
}

void ui_search_on(struct ui *ui)
{
	struct text text = { 0 };

	switch (model_search_on(ui->model, SEARCH_ROWS_AT_ONCE)) {
	case SEARCH_GOING_ON:
		ui_set_message(ui, "searching");
		return;
	case SEARCH_FAILED:
		text_printf(&text, "not found: %s", model_pattern(ui->model) ?: "");
		ui_set_message(ui, text.bytes);
		text_fini(&text);
		break;
	default:
		ui_set_message(ui, NULL);
	}
	ui->is_searching = false;
}

static void begin_search(struct ui *ui, const char *pattern, bool is_backwards)
{
	if (!pattern && !model_pattern(ui->model)) {
		ui_set_message(ui, "nothing to repeat: / starts a search");
		return;
	}
	model_search(ui->model, pattern, is_backwards, pattern != NULL);
	ui->is_searching = true;
	ui_search_on(ui);
}

static void end_prompt(struct ui *ui)
{
	const char *typed = ui->prompt.typed.bytes;

	if (ui->mode == MODE_FILTER)
		model_set_filter(ui->model, typed);
	else if (*typed || model_pattern(ui->model)) /* Enter alone: the same again */
		begin_search(ui, *typed ? typed : NULL, false);
}

static void press_in_prompt(struct ui *ui, uint32_t key)
{
	switch (prompt_press(&ui->prompt, key)) {
	case PROMPT_OPEN:
		return;
	case PROMPT_DONE:
		end_prompt(ui);
		break;
	case PROMPT_CANCELLED:
		break;
	}
	ui->mode = MODE_NORMAL;
}

static void begin_prompt(struct ui *ui, enum mode mode, const char *typed)
{
	ui->mode = mode;
	prompt_begin(&ui->prompt, typed);
}

static void quit(struct ui *ui)
{
	if (model_is_help(ui->model))
		model_show_help(ui->model, false);
	else if (ui->status.is_command_running)
		ui->mode = MODE_QUIT;
	else
		ui->wants_quit = true;
}

static void go_beside(struct ui *ui, int step)
{
	enum page_number page = model_page(ui->model);

	do
		page = (page + PAGES + step) % PAGES;
	while (!model_has_page(ui->model, page));
	model_go_to(ui->model, page);
}

/* Whether or not the report has it, a page has the same key. */
static void go_to(struct ui *ui, uint32_t key)
{
	for (enum page_number page = 0; page < PAGES; page++)
		if ((unsigned char)tui_pages[page]->key == key)
			model_go_to(ui->model, page);
}

static void move(struct ui *ui, enum action action)
{
	long all = (long)model_count(ui->model);

	switch (action) {
	case ACTION_UP:
		model_move(ui->model, -1);
		break;
	case ACTION_DOWN:
		model_move(ui->model, 1);
		break;
	case ACTION_PAGE_UP:
		model_move_screens(ui->model, -1);
		break;
	case ACTION_PAGE_DOWN:
		model_move_screens(ui->model, 1);
		break;
	case ACTION_WHEEL_UP:
		model_move(ui->model, -WHEEL_ROWS);
		break;
	case ACTION_WHEEL_DOWN:
		model_move(ui->model, WHEEL_ROWS);
		break;
	case ACTION_FIRST:
		model_move(ui->model, -all);
		break;
	default:
		model_move(ui->model, all);
	}
}

static void fold(struct ui *ui, enum action action)
{
	switch (action) {
	case ACTION_TOGGLE:
		model_toggle(ui->model);
		break;
	case ACTION_UNFOLD:
		model_unfold(ui->model);
		break;
	case ACTION_FOLD:
		model_fold(ui->model);
		break;
	default:
		model_unfold_all(ui->model);
	}
}

static void sort(struct ui *ui, enum action action)
{
	if (!model_sort_name(ui->model))
		ui_set_message(ui, "this page cannot be sorted");
	else if (action == ACTION_REVERSE)
		model_reverse_sort(ui->model);
	else
		model_next_sort(ui->model);
}

static void choose_graph(struct ui *ui, enum action action)
{
	if (action == ACTION_WAITS && !model_toggle_thread(ui->model))
		ui_set_message(ui, model_has_page(ui->model, PAGE_GRAPH)
					   ? "select the row of a thread first, such as on page THREADS"
					   : "GRAPH needs a trace: see pinch record");
	if (action == ACTION_MERGE && !model_toggle_merged(ui->model))
		ui_set_message(ui, "this key is for pages GRAPH and CRITICAL, with a trace");
}

static void act(struct ui *ui, enum action action, uint32_t key)
{
	switch (action) {
	case ACTION_UP:
	case ACTION_DOWN:
	case ACTION_PAGE_UP:
	case ACTION_PAGE_DOWN:
	case ACTION_WHEEL_UP:
	case ACTION_WHEEL_DOWN:
	case ACTION_FIRST:
	case ACTION_LAST:
		return move(ui, action);
	case ACTION_TOGGLE:
	case ACTION_UNFOLD:
	case ACTION_FOLD:
	case ACTION_UNFOLD_ALL:
		return fold(ui, action);
	case ACTION_NEXT_PAGE:
		return go_beside(ui, 1);
	case ACTION_PREVIOUS_PAGE:
		return go_beside(ui, -1);
	case ACTION_GO_TO_PAGE:
		return go_to(ui, key);
	case ACTION_SEARCH:
		return begin_prompt(ui, MODE_SEARCH, "");
	case ACTION_SEARCH_NEXT:
		return begin_search(ui, NULL, false);
	case ACTION_SEARCH_PREVIOUS:
		return begin_search(ui, NULL, true);
	case ACTION_SORT:
	case ACTION_REVERSE:
		return sort(ui, action);
	case ACTION_FILTER:
		return begin_prompt(ui, MODE_FILTER, model_filter(ui->model));
	case ACTION_PAUSE:
		ui->is_paused = !ui->is_paused;
		return;
	case ACTION_WAITS:
	case ACTION_MERGE:
		return choose_graph(ui, action);
	case ACTION_HELP:
		return model_show_help(ui->model, !model_is_help(ui->model));
	case ACTION_REDRAW:
		ui->wants_redraw = true;
		return;
	case ACTION_QUIT:
		return quit(ui);
	case ACTION_NONE:
		if (key == KEY_CODE_ESCAPE && model_is_help(ui->model))
			model_show_help(ui->model, false);
	}
}

static void click_row(struct ui *ui, uint32_t line)
{
	size_t row = model_top(ui->model) + line - LINES_ABOVE;

	if (row == model_cursor(ui->model))
		model_toggle(ui->model);
	else
		model_select(ui->model, row);
}

void ui_click(struct ui *ui, uint32_t column, uint32_t line)
{
	if (ui->mode != MODE_NORMAL || ui_is_small(ui))
		return;
	ui_set_message(ui, NULL); /* it has changed, then */
	if (line == LINE_TABS && !model_is_help(ui->model)) {
		enum page_number page = ui_tab_at(ui, column);

		if (page < PAGES)
			model_go_to(ui->model, page);
	} else if (line >= LINES_ABOVE && line + LINES_BELOW < ui->lines) {
		click_row(ui, line);
	}
}

void ui_press(struct ui *ui, uint32_t key)
{
	ui_set_message(ui, NULL);
	ui->has_changed = true;
	switch (ui->mode) {
	case MODE_NORMAL:
		act(ui, key_action(key), key);
		break;
	case MODE_SEARCH:
	case MODE_FILTER:
		press_in_prompt(ui, key);
		break;
	case MODE_QUIT:
		ui->wants_quit = key == 'q' || key == 'Q' || key == 'y' || key == 'Y';
		ui->mode = MODE_NORMAL;
	}
}
