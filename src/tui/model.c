/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/model_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"
#include "tui/rows/graphs.h"
#include "tui/rows/rows.h"
#include "tui/rows/rows_threads.h"
#include "tui/rows/unfolded.h"
#include "tui/terminal/line.h"
#include "view/page.h"
#include "view/view.h"

struct model *model_new(const struct model_options *options)
{
	struct model *model = xcalloc(1, sizeof(*model));

	model->options = *options;
	if (options->graphs)
		model->graphs = graphs_new(options->graphs);
	model->rows = rows_new();
	model->filter = xstrdup("");
	model->columns = 80;
	model->lines = 20;
	model->is_stale = true;
	for (size_t i = 0; i < STATES; i++)
		model->states[i].unfolded = unfolded_new();
	model->states[PAGE_OUTPUT].is_at_end = true; /* it follows what is written */
	return model;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < STATES; i++)
		unfolded_free(model->states[i].unfolded);
	rows_free(model->rows);
	graphs_free(model->graphs);
	free(model->filter);
	free(model->search.pattern);
	free(model);
}

static const struct tui_page *page_of(const struct model *model)
{
	return model->is_help ? &help_page : tui_pages[model->page];
}

static struct page_state *state_of(const struct model *model)
{
	return (struct page_state *)&model->states[model->is_help ? HELP : model->page];
}

/* Help and the command's output need no report. */
static bool needs_report(const struct model *model)
{
	return !model->is_help && model->page != PAGE_OUTPUT;
}

bool model_has_page(const struct model *model, enum page_number page)
{
	return page < PAGE_OUTPUT || (page > PAGE_OUTPUT) == (model->graphs != NULL);
}

static size_t last_row(const struct model *model)
{
	size_t count = rows_count(model->rows);

	return count ? count - 1 : 0;
}

/* What is seen includes the cursor, and no more than one empty line of room when there are rows. */
static void keep_in_sight(struct model *model)
{
	struct page_state *state = state_of(model);
	size_t count = rows_count(model->rows);

	if (state->cursor > last_row(model))
		state->cursor = last_row(model);
	if (state->top > state->cursor)
		state->top = state->cursor;
	if (state->cursor - state->top >= model->lines)
		state->top = state->cursor - model->lines + 1;
	if (count <= model->lines)
		state->top = 0;
	else if (state->top > count - model->lines)
		state->top = count - model->lines;
}

static void note_cursor(struct model *model)
{
	struct page_state *state = state_of(model);
	bool is_at_end = state->cursor == last_row(model);

	state->is_at_end = is_at_end;
	state->cursor_key = rows_count(model->rows) ? rows_at(model->rows, state->cursor)->key : 0;
}

/* Back to the row that it was on, which may have moved; to where it was if that is gone. */
static void find_cursor(struct model *model)
{
	struct page_state *state = state_of(model);
	size_t count = rows_count(model->rows), above = state->cursor - state->top;

	if (model->page == PAGE_OUTPUT && !model->is_help && state->is_at_end) {
		state->cursor = last_row(model);
	} else if (state->cursor_key &&
		   !(state->cursor < count && rows_at(model->rows, state->cursor)->key == state->cursor_key)) {
		for (size_t i = 0; i < count; i++) {
			if (rows_at(model->rows, i)->key == state->cursor_key) {
				state->cursor = i;
				break;
			}
		}
	}
	state->top = state->cursor > above ? state->cursor - above : 0;
	keep_in_sight(model);
	note_cursor(model);
}

static void update(struct model *model)
{
	const struct tui_page *page = page_of(model);

	if (!model->is_stale)
		return;
	model->is_stale = false;
	model->context = (struct row_context){
		.report = model->report,
		.output = model->options.output,
		.graphs = model->graphs,
		.fold = model->options.fold,
		.unfolded = state_of(model)->unfolded,
		.filter = page->has_filter ? model->filter : "",
		.sort = state_of(model)->sort,
		.is_reversed = state_of(model)->is_reversed,
		.width = model->columns > VIEW_WIDTH_MIN ? model->columns : VIEW_WIDTH_MIN,
		.has_unicode = model->options.has_unicode,
		.has_color = model->options.has_color,
	};
	rows_clear(model->rows, &model->context);
	if (model->report || !needs_report(model))
		page->add_rows(model->rows);
	find_cursor(model);
}

/* Of threads of these numbers, the one that was blocked longest; 0: none of them has a row. */
static uint32_t longest_blocked(const struct report *report, const struct report_wait *wait)
{
	const struct report_thread *longest = NULL;

	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		for (size_t k = 0; k < wait->threads && wait->waiters && thread->number; k++)
			if (wait->waiters[k] == thread->number &&
			    (!longest || thread->blocked_ns > longest->blocked_ns))
				longest = thread;
	}
	return longest ? longest->number : 0;
}

/* Whom the largest finding about a wait held up; 0: nobody in particular. */
static uint32_t thread_of_findings(const struct report *report)
{
	uint32_t thread = 0;

	for (size_t i = 0; i < report->finding_count && !thread; i++) {
		uint32_t rank = report->findings[i].wait_rank;

		if (rank && rank <= report->wait_count)
			thread = longest_blocked(report, &report->waits[rank - 1]);
	}
	return thread;
}

void model_set_report(struct model *model, const struct report *report)
{
	model->report = report;
	model->is_stale = true;
	if (!report || !model->graphs || model->has_chosen)
		return;
	model->has_chosen = true;
	graphs_choose_thread(model->graphs, thread_of_findings(report));
	graphs_set_merged(model->graphs, true);
}

bool model_has_report(const struct model *model)
{
	return model->report || !needs_report(model);
}

void model_note_output(struct model *model)
{
	if (model->page == PAGE_OUTPUT)
		model->is_stale = true;
}

void model_set_size(struct model *model, uint32_t columns, uint32_t lines)
{
	model->columns = columns;
	model->lines = lines ? lines : 1;
	model->is_stale = true;
}

void model_go_to(struct model *model, enum page_number page)
{
	if (!model_has_page(model, page))
		return;
	model->page = page;
	model->is_help = false;
	model->is_stale = true;
	model->search.state = SEARCH_NONE;
}

enum page_number model_page(const struct model *model)
{
	return model->page;
}

void model_show_help(struct model *model, bool is_shown)
{
	model->is_help = is_shown;
	model->is_stale = true;
	model->search.state = SEARCH_NONE;
}

bool model_is_help(const struct model *model)
{
	return model->is_help;
}

size_t model_count(struct model *model)
{
	update(model);
	return rows_count(model->rows);
}

size_t model_top(struct model *model)
{
	update(model);
	return state_of(model)->top;
}

size_t model_cursor(struct model *model)
{
	update(model);
	return state_of(model)->cursor;
}

/* Rows that are very deep do not move in any more: there must be space for what they say. */
static void put_mark(struct page *page, const struct row *row, bool is_cursor)
{
	bool has_unicode = page->style->has_unicode;
	uint32_t indent = (uint32_t)row->depth * ROW_INDENT;

	page_put(page, is_cursor ? ">" : " ");
	page_pad_to(page, 1 + (indent < page->width / 4 ? indent : page->width / 4));
	if (!row->can_unfold)
		page_put(page, "  ");
	else if (row->is_unfolded)
		page_put(page, has_unicode ? "▾ " : "- ");
	else
		page_put(page, has_unicode ? "▸ " : "+ ");
}

void model_format_row(struct model *model, size_t i, uint32_t columns, bool has_color, struct text *line)
{
	const struct row *row = rows_at(model->rows, i);
	struct view_style style = {
		.width = columns,
		.has_color = has_color,
		.has_unicode = model->options.has_unicode,
		.fold = model->options.fold,
	};
	struct page page;

	page_init(&page, &style, line);
	put_mark(&page, row, i == state_of(model)->cursor);
	row->kind->put(&page, row, &model->context);
	page_fini(&page);
	model->formatted++;
}

void model_put_row(struct model *model, size_t i, struct text *line)
{
	update(model);
	text_put(line, "");
	model_format_row(model, i, model->columns, model->options.has_color, line);
	line_cut(line, model->columns);
}

void model_put_titles(struct model *model, struct text *line)
{
	struct view_style style = {
		.width = model->columns,
		.has_unicode = model->options.has_unicode,
	};
	struct page page;

	update(model);
	text_put(line, "");
	if (!page_of(model)->put_titles)
		return;
	page_init(&page, &style, line);
	page_pad_to(&page, ROW_MARK_COLUMNS);
	page_of(model)->put_titles(&page, &model->context);
	page_fini(&page);
	line_cut(line, model->columns);
}

uint64_t model_formatted(const struct model *model)
{
	return model->formatted;
}

static size_t moved(size_t from, long by, size_t last)
{
	if (by < 0)
		return from > (size_t)-by ? from - (size_t)-by : 0;
	return (size_t)by < last - from ? from + (size_t)by : last;
}

static void move_to(struct model *model, size_t row)
{
	state_of(model)->cursor = row;
	keep_in_sight(model);
	note_cursor(model);
}

void model_select(struct model *model, size_t row)
{
	update(model);
	if (row < rows_count(model->rows))
		move_to(model, row);
}

void model_move(struct model *model, long rows)
{
	update(model);
	move_to(model, moved(state_of(model)->cursor, rows, last_row(model)));
}

void model_move_screens(struct model *model, long screens)
{
	struct page_state *state;
	long rows = screens * (long)(model->lines > 1 ? model->lines - 1 : 1);

	update(model);
	state = state_of(model);
	state->top = moved(state->top, rows, last_row(model));
	move_to(model, moved(state->cursor, rows, last_row(model)));
}

static void set_unfolded(struct model *model, bool is_unfolded)
{
	const struct row *row;

	update(model);
	if (!rows_count(model->rows))
		return;
	row = rows_at(model->rows, state_of(model)->cursor);
	if (!row->can_unfold)
		return;
	unfolded_set(state_of(model)->unfolded, row->key, is_unfolded);
	model->is_stale = true;
}

void model_unfold(struct model *model)
{
	set_unfolded(model, true);
}

void model_toggle(struct model *model)
{
	update(model);
	if (rows_count(model->rows))
		set_unfolded(model, !rows_at(model->rows, state_of(model)->cursor)->is_unfolded);
}

void model_fold(struct model *model)
{
	size_t cursor;
	const struct row *row;

	update(model);
	if (!rows_count(model->rows))
		return;
	cursor = state_of(model)->cursor;
	row = rows_at(model->rows, cursor);
	if (row->is_unfolded) {
		set_unfolded(model, false);
		return;
	}
	while (cursor && rows_at(model->rows, cursor)->depth >= row->depth)
		cursor--;
	if (row->depth)
		move_to(model, cursor);
}

void model_unfold_all(struct model *model)
{
	struct unfolded *unfolded = state_of(model)->unfolded;

	update(model);
	unfolded_set_all(unfolded, !unfolded_is_all(unfolded));
	model->is_stale = true;
}

static void begin_anew(struct page_state *state)
{
	state->cursor = state->top = 0;
	state->cursor_key = 0;
}

static void choose_graph(struct model *model, uint32_t thread, bool is_merged)
{
	graphs_choose_thread(model->graphs, thread);
	graphs_set_merged(model->graphs, is_merged);
	begin_anew(&model->states[PAGE_GRAPH]);
	begin_anew(&model->states[PAGE_CRITICAL]);
	model->is_stale = true;
}

bool model_toggle_thread(struct model *model)
{
	uint32_t thread = 0;
	bool is_back;

	update(model);
	if (!model->graphs || model->is_help)
		return false;
	is_back = page_of(model)->graphs_part && graphs_thread(model->graphs);
	if (!is_back && rows_count(model->rows))
		thread = row_thread(rows_at(model->rows, state_of(model)->cursor));
	if (!is_back && !thread)
		return false;
	if (!is_back)
		model->page_before = model->page;
	choose_graph(model, thread, graphs_is_merged(model->graphs));
	if (!is_back || model->is_users_choice)
		model_go_to(model, is_back ? model->page_before : PAGE_GRAPH);
	model->is_users_choice = !is_back;
	return true;
}

bool model_toggle_merged(struct model *model)
{
	if (!page_of(model)->graphs_part || !model->graphs)
		return false;
	choose_graph(model, graphs_thread(model->graphs), !graphs_is_merged(model->graphs));
	return true;
}

bool model_wants_graph(const struct model *model)
{
	return model->graphs && graphs_wants(model->graphs, page_of(model)->graphs_part);
}

void model_make_graph(struct model *model)
{
	/* No row may lead to what was there before. */
	rows_clear(model->rows, &model->context);
	model->is_stale = true;
	graphs_make(model->graphs, page_of(model)->graphs_part);
	model->is_stale = true;
}

void model_next_sort(struct model *model)
{
	bool (*has_sort)(const struct report *, size_t) = page_of(model)->has_sort;
	const char *const *sorts = page_of(model)->sorts;
	struct page_state *state = state_of(model);

	if (!sorts)
		return;
	do
		state->sort = sorts[state->sort + 1] ? state->sort + 1 : 0;
	while (state->sort && has_sort && !has_sort(model->report, state->sort));
	model->is_stale = true;
}

bool model_reverse_sort(struct model *model)
{
	struct page_state *state = state_of(model);

	if (!page_of(model)->sorts)
		return false;
	state->is_reversed = !state->is_reversed;
	model->is_stale = true;
	return true;
}

bool model_is_reversed(const struct model *model)
{
	return state_of(model)->is_reversed;
}

const char *model_sort_name(const struct model *model)
{
	const char *const *sorts = page_of(model)->sorts;

	return sorts ? sorts[state_of(model)->sort] : NULL;
}

void model_set_filter(struct model *model, const char *filter)
{
	free(model->filter);
	model->filter = xstrdup(filter);
	model->is_stale = true;
}

const char *model_filter(const struct model *model)
{
	return model->filter;
}

bool model_is_filtered(const struct model *model)
{
	return *model->filter && page_of(model)->has_filter;
}
