/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is on the screen, line by line. */
#include <string.h>

#include "base/memory.h"
#include "tui/terminal/line.h"
#include "tui/ui_internal.h"
#include "view/page.h"
#include "view/view.h"

static void begin_line(struct ui *ui, size_t i, enum ui_look look)
{
	struct ui_line *line = &ui->composed[i];

	line->text.length = 0;
	text_put(&line->text, "");
	line->look = look;
}

/* Puts left on the line, and right at its end as far as there is space. */
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
		.width = ui->columns,
		.has_unicode = ui->options.has_unicode,
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

/* From one page on. Returns how many columns it took to show the current one as well. */
static uint32_t put_tabs(struct ui *ui, struct text *line, enum page_number first, bool is_short)
{
	bool wants_space = false;
	uint32_t end = 0;

	line->length = 0;
	text_put(line, "");
	memset(ui->tab_ends, 0, sizeof(ui->tab_ends));
	for (enum page_number i = first; i < PAGES; i++) {
		const char *name = is_short && tui_pages[i]->short_name ? tui_pages[i]->short_name : tui_pages[i]->name;

		if (!model_has_page(ui->model, i))
			continue;
		/* The brackets say without colour which one it is. They stand where spaces would. */
		if (i == model_page(ui->model))
			text_printf(line, "\033[1m[%c %s]\033[0m", tui_pages[i]->key, name);
		else
			text_printf(line, wants_space ? " %c %s" : "%c %s", tui_pages[i]->key, name);
		wants_space = i != model_page(ui->model);
		ui->tab_ends[i] = line_columns(line->bytes);
		if (i == model_page(ui->model))
			end = ui->tab_ends[i];
	}
	return end;
}

enum page_number ui_tab_at(const struct ui *ui, uint32_t column)
{
	for (enum page_number i = 0; i < PAGES; i++)
		if (column < ui->tab_ends[i])
			return i;
	return PAGES;
}

/* On a narrow screen the first tabs make way for the current one. */
static void compose_tabs(struct ui *ui)
{
	struct text *line = &ui->composed[LINE_TABS].text;

	begin_line(ui, LINE_TABS, LOOK_PLAIN);
	if (model_is_help(ui->model)) {
		text_put(line, "[HELP] keys, and what the figures mean");
		line_cut(line, ui->columns);
		return;
	}
	put_tabs(ui, line, 0, false);
	if (line_columns(line->bytes) > ui->columns)
		for (enum page_number first = 0;
		     put_tabs(ui, line, first, true) > ui->columns && first < model_page(ui->model);)
			first++;
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
		text_printf(line, "  sorted by %s%s", sort, model_is_reversed(ui->model) ? ", reversed" : "");
	if (*model_filter(ui->model)) {
		text_put(line, model_is_filtered(ui->model) ? "  filter: " : "  (no filter here): ");
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
		put_ends(ui, line, "The command runs on, untraced, its output here. Quit? (y/n)", "");
	} else if (ui->message) {
		text_put_escaped(line, ui->message);
		line_cut(line, ui->columns);
	} else {
		put_position(ui, &left);
		put_ends(ui, line, left.bytes, model_is_help(ui->model) ? "q back" : "? help  q quit");
		text_fini(&left);
	}
}

static void compose_rows(struct ui *ui)
{
	size_t top = model_top(ui->model), count = model_count(ui->model);
	size_t cursor = model_cursor(ui->model), end = ui->lines - LINES_BELOW;
	const char *nothing = tui_pages[model_page(ui->model)]->nothing;

	for (size_t i = LINES_ABOVE; i < end; i++) {
		size_t row = top + i - LINES_ABOVE;

		begin_line(ui, i, row == cursor && row < count ? LOOK_CURSOR : LOOK_PLAIN);
		if (row < count)
			model_put_row(ui->model, row, &ui->composed[i].text);
	}
	if (count)
		return;
	text_printf(&ui->composed[LINES_ABOVE].text, "   %s",
		    !model_has_report(ui->model)   ? "waiting for the first events"
		    : model_is_filtered(ui->model) ? "no row matches the filter"
		    : nothing                      ? nothing
						   : "nothing yet");
	line_cut(&ui->composed[LINES_ABOVE].text, ui->columns);
}

bool ui_is_small(const struct ui *ui)
{
	return ui->columns < UI_COLUMNS_MIN || ui->lines < UI_LINES_MIN;
}

/* On a screen that is too small all that can be said is that it is. */
static void compose_small(struct ui *ui)
{
	for (size_t i = 0; i < ui->lines; i++)
		begin_line(ui, i, LOOK_PLAIN);
	if (!ui->lines)
		return;
	text_printf(&ui->composed[0].text, "pinch needs %dx%d, this is %ux%u", UI_COLUMNS_MIN, UI_LINES_MIN,
		    ui->columns, ui->lines);
	line_cut(&ui->composed[0].text, ui->columns);
}

const struct ui_line *ui_compose(struct ui *ui)
{
	if (ui->lines > ui->composed_capacity) {
		ui->composed = xrealloc(ui->composed, ui->lines, sizeof(*ui->composed));
		for (size_t i = ui->composed_capacity; i < ui->lines; i++)
			ui->composed[i] = (struct ui_line){ 0 };
		ui->composed_capacity = ui->lines;
	}
	if (ui_is_small(ui)) {
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
