/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/ui.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "tui/keys.h"
#include "tui/line.h"
#include "tui/prompt.h"
#include "view/page.h"
#include "view/view.h"

/* Lines besides those of rows: status of the run, tabs, titles; keys and prompts. */
enum { LINES_ABOVE = 3, LINES_BELOW = 1, SEARCH_ROWS_AT_ONCE = 2000, SCREEN_LINES_MAX = 1000 };

enum mode { MODE_NORMAL, MODE_SEARCH, MODE_FILTER, MODE_QUIT };

struct ui {
	struct model *model;
	struct model_options options;
	struct ui_status status;
	uint32_t columns, lines;
	enum mode mode;
	struct prompt prompt;
	char *message;			/* NULL: none */
	bool is_paused, wants_quit, wants_redraw, has_changed;
	bool is_searching;
	struct ui_line *composed;
	size_t composed_room;
};

struct ui *ui_new(const struct model_options *options)
{
	struct ui *ui = xcalloc(1, sizeof(*ui));

	ui->options = *options;
	ui->model = model_new(options);
	ui->status.exit_status = -1;
	ui_set_size(ui, UI_COLUMNS_MIN, UI_LINES_MIN);
	return ui;
}

void ui_free(struct ui *ui)
{
	if (!ui)
		return;
	for (size_t i = 0; i < ui->composed_room; i++)
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
	model_set_size(ui->model, columns,
		       lines > LINES_ABOVE + LINES_BELOW ? lines - LINES_ABOVE - LINES_BELOW : 1);
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
		ui_set_message(ui, "nothing was searched for yet: / begins");
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
	else if (*typed || model_pattern(ui->model))	/* Enter alone: the same again */
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
	model_go_to(ui->model, (model_page(ui->model) + PAGES + step) % PAGES);
}

static void go_to(struct ui *ui, uint32_t key)
{
	if (key - '1' < PAGES)
		model_go_to(ui->model, key - '1');
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

static void next_sort(struct ui *ui)
{
	if (!model_sort_name(ui->model))
		ui_set_message(ui, "this page has one order only");
	model_next_sort(ui->model);
}

static void act(struct ui *ui, enum action action, uint32_t key)
{
	switch (action) {
	case ACTION_UP: case ACTION_DOWN: case ACTION_PAGE_UP: case ACTION_PAGE_DOWN:
	case ACTION_FIRST: case ACTION_LAST:
		return move(ui, action);
	case ACTION_TOGGLE: case ACTION_UNFOLD: case ACTION_FOLD: case ACTION_UNFOLD_ALL:
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
		return next_sort(ui);
	case ACTION_FILTER:
		return begin_prompt(ui, MODE_FILTER, model_filter(ui->model));
	case ACTION_PAUSE:
		ui->is_paused = !ui->is_paused;
		return;
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

static void begin_line(struct ui *ui, size_t i, enum ui_look look)
{
	struct ui_line *line = &ui->composed[i];

	line->text.length = 0;
	text_put(&line->text, "");
	line->look = look;
}

/* Puts left on the line, and right at its end as far as there is room. */
static void put_ends(struct ui *ui, struct text *line, const char *left, const char *right)
{
	size_t used = text_columns(left), wanted = text_columns(right);

	text_put(line, left);
	if (used + 1 + wanted <= ui->columns) {
		text_printf(line, "%*s", (int)(ui->columns - used - wanted), "");
		text_put(line, right);
	}
	line_cut(line, ui->columns);
}

static void put_state(struct ui *ui, struct text *text)
{
	const struct ui_status *status = &ui->status;

	if (ui->is_paused)
		text_put(text, "PAUSED  ");
	if (!status->is_over)
		text_put(text, "tracing ");
	else if (status->exit_status >= 0)
		text_printf(text, "ended, exit status %d, after ", status->exit_status);
	else
		text_put(text, "traced for ");
	if (status->time_ns < 100000000000)
		text_printf(text, "%.1f s", status->time_ns / 1e9);
	else
		text_put_duration(text, status->time_ns);
	if (!status->is_over) {
		text_put(text, "  ");
		text_put_count(text, status->threads);
		text_put(text, status->threads == 1 ? " thread, " : " threads, ");
		text_put_count(text, status->active);
		text_put(text, " active");
	}
	if (status->lost) {
		text_put(text, "  ");
		text_put_count(text, status->lost);
		text_put(text, " events lost");
	}
}

static void compose_status(struct ui *ui)
{
	struct view_style style = {
		.width = ui->columns, .has_unicode = ui->options.has_unicode,
	};
	struct text right = { 0 }, left = { 0 };
	struct page page;
	uint32_t taken;

	begin_line(ui, 0, LOOK_BAR);
	put_state(ui, &right);
	taken = text_columns(right.bytes) + 9;
	page_init(&page, &style, &left);
	page_put(&page, "pinch: ");
	page_put_name(&page, ui->status.command ? ui->status.command : "",
		      ui->columns > taken + 10 ? ui->columns - taken : 10);
	page_fini(&page);
	put_ends(ui, &ui->composed[0].text, left.bytes, right.bytes);
	text_fini(&right);
	text_fini(&left);
}

static void compose_tabs(struct ui *ui)
{
	struct text *line = &ui->composed[1].text;

	begin_line(ui, 1, LOOK_PLAIN);
	if (model_is_help(ui->model)) {
		text_put(line, "[HELP] the keys, and what figures mean");
		return;
	}
	for (size_t i = 0; i < PAGES; i++) {
		/* The brackets say without colour which one it is. */
		if (i == model_page(ui->model))
			text_printf(line, "\033[1m[%zu %s]\033[0m", i + 1, tui_pages[i]->name);
		else
			text_printf(line, i ? " %zu %s" : "%zu %s", i + 1, tui_pages[i]->name);
	}
	line_cut(line, ui->columns);
}

static void put_prompt(struct ui *ui, struct text *line)
{
	struct text typed = { 0 };

	text_put(&typed, "");
	text_put_escaped(&typed, ui->prompt.typed.bytes ? ui->prompt.typed.bytes : "");
	text_put(line, ui->mode == MODE_SEARCH ? "/" : "filter (thread name or cause): ");
	text_put(line, typed.bytes);
	text_put(line, "_");
	text_fini(&typed);
}

static void put_position(struct ui *ui, struct text *line)
{
	const char *sort = model_sort_name(ui->model);
	size_t count = model_count(ui->model);

	text_put_count(line, count ? model_cursor(ui->model) + 1 : 0);
	text_put(line, "/");
	text_put_count(line, count);
	if (sort)
		text_printf(line, "  sorted by %s", sort);
	if (*model_filter(ui->model)) {
		text_put(line, model_is_filtered(ui->model) ? "  filter: "
							    : "  (no filter here): ");
		text_put_escaped(line, model_filter(ui->model));
	}
}

static void compose_foot(struct ui *ui)
{
	size_t i = ui->lines - 1;
	struct text *line = &ui->composed[i].text, left = { 0 };

	begin_line(ui, i, LOOK_BAR);
	if (ui->mode == MODE_SEARCH || ui->mode == MODE_FILTER) {
		put_prompt(ui, line);
		line_cut(line, ui->columns);
	} else if (ui->mode == MODE_QUIT) {
		put_ends(ui, line, "The command runs on, untraced, its output here. Quit? (y/n)",
			 "");
	} else if (ui->message) {
		text_put_escaped(line, ui->message);
		line_cut(line, ui->columns);
	} else {
		put_position(ui, &left);
		put_ends(ui, line, left.bytes,
			 model_is_help(ui->model) ? "q back" : "? help  q quit");
		text_fini(&left);
	}
}

static void compose_rows(struct ui *ui)
{
	size_t top = model_top(ui->model), count = model_count(ui->model);
	size_t cursor = model_cursor(ui->model), end = ui->lines - LINES_BELOW;

	for (size_t i = LINES_ABOVE; i < end; i++) {
		size_t row = top + i - LINES_ABOVE;

		begin_line(ui, i, row == cursor && row < count ? LOOK_CURSOR : LOOK_PLAIN);
		if (row < count)
			model_put_row(ui->model, row, &ui->composed[i].text);
	}
	if (count)
		return;
	text_put(&ui->composed[LINES_ABOVE].text, !model_has_report(ui->model)
		 ? "   waiting for the first events" : model_is_filtered(ui->model)
		 ? "   nothing here passes the filter" : "   nothing of this kind so far");
}

/* On a screen that is too small all that can be said is that it is. */
static void compose_small(struct ui *ui)
{
	for (size_t i = 0; i < ui->lines; i++)
		begin_line(ui, i, LOOK_PLAIN);
	if (!ui->lines)
		return;
	text_printf(&ui->composed[0].text, "pinch needs %dx%d, this is %ux%u", UI_COLUMNS_MIN,
		    UI_LINES_MIN, ui->columns, ui->lines);
	line_cut(&ui->composed[0].text, ui->columns);
}

const struct ui_line *ui_compose(struct ui *ui)
{
	if (ui->lines > ui->composed_room) {
		ui->composed = xrealloc(ui->composed, ui->lines, sizeof(*ui->composed));
		for (size_t i = ui->composed_room; i < ui->lines; i++)
			ui->composed[i] = (struct ui_line){ 0 };
		ui->composed_room = ui->lines;
	}
	if (ui->columns < UI_COLUMNS_MIN || ui->lines < UI_LINES_MIN) {
		compose_small(ui);
		return ui->composed;
	}
	compose_status(ui);
	compose_tabs(ui);
	begin_line(ui, 2, LOOK_TITLES);
	model_put_titles(ui->model, &ui->composed[2].text);
	compose_rows(ui);
	compose_foot(ui);
	return ui->composed;
}
