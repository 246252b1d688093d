/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths by CMetric, in full. */
#include "view/text/text_sections.h"

#include <stdio.h>
#include <string.h>

#include "report/report.h"
#include "stacks/fold.h"
#include "view/page.h"
#include "view/text/bars.h"
#include "view/text/text_frames.h"
#include "view/view.h"

enum {
	LINES_MAX = 4,
	LABELS_MAX = 4,
};
enum { DETAIL_COLUMN = 6, FRAME_COLUMN = 8, LOCATION_COLUMNS = 30 };

static void put_caller(struct page *page, const struct report_path *path)
{
	const struct report_frame *caller = text_path_caller(path, page->style->fold);
	struct text name = { 0 };

	if (!caller || page_columns_left(page) < 20)
		return;
	text_frame_name(&name, caller);
	page_color(page, PAGE_DIM);
	page_put(page, "  called by ");
	page_put_function(page, name.bytes, page_columns_left(page));
	text_fini(&name);
}

/* The line that every path has: rank, share, CMetric, what it is named after. */
static void show_summary(struct page *page, const struct report_path *path)
{
	const struct report_frame *headline = text_path_headline(path, page->style->fold);
	uint32_t begin;

	page_printf(page, "%3u ", path->rank);
	page_put_share(page, path->wall_share, 8);
	page_put(page, " ");
	page_color(page, PAGE_RED);
	bars_put(page, path->wall_share, page->width >= 80 ? 10 : 5);
	page_color(page, PAGE_PLAIN);
	if (path->is_estimated)
		page_put_estimate(page, path->cmetric_ns, 11);
	else
		page_put_duration(page, path->cmetric_ns, 11);
	page_put(page, "  ");
	begin = page->column;
	page_color(page, PAGE_BOLD);
	if (!headline) {
		page_put(page, "no stack (see Lost)");
	} else {
		text_put_frame(page, headline, (page->width - begin) * 3 / 5);
		put_caller(page, path);
	}
}

static void put_threads(struct page *page, const struct report_path *path)
{
	page_put_count(page, path->thread_count, 0);
	page_put(page, path->thread_count == 1 ? " thread" : " threads");
	for (size_t i = 0; i < path->thread_name_count && page_columns_left(page) > 24; i++) {
		page_put(page, i ? ", " : ": ");
		page_put_name(page, path->thread_names[i], 18);
	}
}

/* What slices and threads the path is made of. */
static void show_detail(struct page *page, const struct report_path *path)
{
	struct text basis = { 0 };

	page_pad_to(page, DETAIL_COLUMN);
	page_color(page, PAGE_DIM);
	text_put_path_basis(&basis, path, page->style->has_unicode);
	page_put(page, basis.bytes);
	text_fini(&basis);
	page_put(page, path->samples ? ", in " : " of ");
	put_threads(page, path);
	page_end_line(page);
	if (path->stalled_ns) {
		page_pad_to(page, DETAIL_COLUMN);
		page_color(page, PAGE_YELLOW);
		page_put_duration(page, path->stalled_ns, 0);
		page_put(page, " of stalls ended when a thread here woke up");
		page_end_line(page);
	}
	if (path->is_estimated) {
		page_pad_to(page, DETAIL_COLUMN);
		page_color(page, PAGE_DIM);
		page_put(page, "~ estimated: only a sample of the stacks was kept");
		page_end_line(page);
	}
}

static void show_run(struct page *page, const char *const *labels, size_t label_count, size_t frame_count)
{
	page_pad_to(page, FRAME_COLUMN);
	page_color(page, PAGE_DIM);
	page_put(page, page->style->has_unicode ? "‹" : "<");
	for (size_t i = 0; i < label_count; i++) {
		page_put(page, i ? ", " : "");
		page_put_name(page, labels[i], page_columns_left(page) > 24 ? page_columns_left(page) - 20 : 4);
	}
	page_put(page, page->style->has_unicode ? "›" : ">");
	page_printf(page, " %zu %s", frame_count, frame_count == 1 ? "frame" : "frames");
	page_end_line(page);
}

/* Shows the run of boilerplate that frames begin with. Returns how many frames it has. */
static size_t show_folded(struct page *page, const struct report_frame *frames, size_t count)
{
	const char *labels[LABELS_MAX], *label;
	size_t label_count = 0, length = 0;

	while (length < count && (label = fold_find_label(page->style->fold, &frames[length]))) {
		length++;
		if (label_count < LABELS_MAX && text_is_new_label(labels, label_count, label))
			labels[label_count++] = label;
	}
	show_run(page, labels, label_count, length);
	return length;
}

/* Shows frames[0] and its repetitions. Returns how many frames that were. */
static size_t show_frame(struct page *page, const struct report_frame *frames, size_t count, bool is_headline,
			 uint32_t location_column)
{
	size_t repeats = text_repeat_count(frames, count);

	if (is_headline) {
		page_pad_to(page, FRAME_COLUMN - 2);
		page_color(page, PAGE_RED);
		page_put(page, page->style->has_unicode ? "▸ " : "> ");
		page_color(page, PAGE_BOLD);
	}
	page_pad_to(page, FRAME_COLUMN);
	text_put_frame_function(page, frames, location_column - FRAME_COLUMN - 2);
	page_color(page, PAGE_DIM);
	page_pad_to(page, location_column);
	text_put_frame_place(page, frames);
	page_color(page, PAGE_DIM);
	if (frames->is_inlined && page_columns_left(page) >= 9)
		page_put(page, " inlined");
	if (frames->is_tail_call && page_columns_left(page) >= 11)
		page_put(page, " tail call");
	if (frames->is_guessed && page_columns_left(page) >= 18)
		page_put(page, " by frame pointer");
	if (repeats > 1 && page_columns_left(page) >= 16)
		page_printf(page, " %zu times", repeats);
	page_end_line(page);
	return repeats;
}

/* Where locations begin: right of the longest function, if that leaves them room. */
static uint32_t location_column_of(struct page *page, const struct report_path *path)
{
	uint32_t widest = 20, limit = page->width - LOCATION_COLUMNS - FRAME_COLUMN - 2;

	for (size_t i = 0; i < path->frame_count; i++) {
		struct text name = { 0 }, shown = { 0 };
		uint32_t columns;

		text_frame_name(&name, &path->frames[i]);
		text_put(&shown, "");
		page_text_function(page, &shown, name.bytes, limit);
		columns = text_columns(shown.bytes);
		if ((!i || !fold_find_label(page->style->fold, &path->frames[i])) && columns > widest)
			widest = columns;
		text_fini(&name);
		text_fini(&shown);
	}
	return FRAME_COLUMN + 2 + widest;
}

static const char *const stack_ends[STACK_ENDS] = {
	[STACK_TRUNCATED] = "deeper than --depth",
	[STACK_NO_TABLE] = "this code has no unwind table",
	[STACK_UNREADABLE] = "the stack could not be read",
};

static void show_stack(struct page *page, const struct report_path *path)
{
	const struct report_frame *headline = text_path_headline(path, page->style->fold);
	size_t i = 0;
	uint32_t location_column = location_column_of(page, path);

	while (i < path->frame_count) {
		const struct report_frame *frame = &path->frames[i];

		if (i && frame != headline && fold_find_label(page->style->fold, frame))
			i += show_folded(page, frame, path->frame_count - i);
		else
			i += show_frame(page, frame, path->frame_count - i, frame == headline, location_column);
	}
	if (path->frame_count && path->stack_end != STACK_COMPLETE) {
		page_pad_to(page, FRAME_COLUMN);
		page_color(page, PAGE_DIM);
		page_put_ellipsis(page);
		page_printf(page, " callers missing: %s", stack_ends[path->stack_end]);
		page_end_line(page);
	}
}

/* "dir/file.cpp:20 (812), :21 (40)": the file once, then numbers of lines. */
static void put_lines(struct page *page, const struct report_function *function)
{
	const char *file = NULL;
	size_t i;

	page_color(page, PAGE_DIM);
	for (i = 0; i < function->line_count && i < LINES_MAX; i++) {
		const struct report_line *line = &function->lines[i];
		bool is_same_file = file && line->file && !strcmp(file, line->file);

		if (!line->file || !*line->file)
			continue;
		if (page_columns_left(page) < (is_same_file ? 15 : 21))
			break;
		page_put(page, file ? ", " : "");
		if (is_same_file)
			page_printf(page, ":%u", line->line);
		else
			page_put_location(page, line->file, line->line, page_columns_left(page) - 14);
		if (function->line_count > 1)
			page_printf(page, " (%llu)", (unsigned long long)line->samples);
		file = line->file;
	}
	if (i < function->line_count && page_columns_left(page) > 4) {
		page_put(page, " ");
		page_put_ellipsis(page);
	}
}

static void put_stack_tops(struct page *page, const struct report_function *function)
{
	char label[48];

	if (!function->stack_tops)
		return;
	if (function->stack_tops >= function->samples)
		snprintf(label, sizeof(label), "stack top  ");
	else
		snprintf(label, sizeof(label), "%llu stack tops  ", (unsigned long long)function->stack_tops);
	page_color(page, PAGE_YELLOW);
	page_put_name(page, label, page_columns_left(page));
}

static void show_function(struct page *page, const struct report_function *function, uint64_t count_all,
			  uint32_t place_column)
{
	page_pad_to(page, DETAIL_COLUMN);
	page_put_count(page, function->samples, 9);
	page_put_share(page, count_all ? (double)function->samples / count_all : 0, 9);
	page_put(page, "  ");
	page_put_function(page, function->name, place_column - page->column - 2);
	page_pad_to(page, place_column);
	put_stack_tops(page, function);
	put_lines(page, function);
	page_end_line(page);
}

/* Where the lines of the functions begin: right of the longest name, within reason. */
static uint32_t place_column_of(struct page *page, const struct report_path *path)
{
	uint32_t begin = DETAIL_COLUMN + 20, limit = (page->width - begin) / 2, widest = 8;

	for (size_t i = 0; i < path->function_count; i++) {
		uint32_t columns = text_columns(path->functions[i].name);

		widest = columns > widest ? columns : widest;
	}
	return begin + 2 + (widest < limit ? widest : limit);
}

static const char stack_top_meaning[] = "  (stack top: slice not sampled; innermost function shown)";

static void show_functions(struct page *page, const struct report_path *path)
{
	uint32_t place_column = place_column_of(page, path);
	uint64_t count_all = 0, stack_tops = 0;

	for (size_t i = 0; i < path->function_count; i++) {
		count_all += path->functions[i].samples;
		stack_tops += path->functions[i].stack_tops;
	}
	page_pad_to(page, DETAIL_COLUMN);
	page_color(page, PAGE_DIM);
	page_put(page, "  samples");
	if (stack_tops && page_columns_left(page) >= strlen(stack_top_meaning))
		page_put(page, stack_top_meaning);
	page_end_line(page);
	for (size_t i = 0; i < path->function_count; i++)
		show_function(page, &path->functions[i], count_all, place_column);
}

/* Where it stands first: other paths that lack names mostly lack them for the same reason. */
static void show_names_hint(struct page *page, const struct report_path *path, const char **hint)
{
	if (!path->names_hint || (*hint && !strcmp(*hint, path->names_hint)))
		return;
	page_paragraph(page, "      ", path->names_hint);
	*hint = path->names_hint;
}

static void show_full(struct page *page, const struct report_path *path, const char **hint)
{
	show_summary(page, path);
	page_end_line(page);
	show_detail(page, path);
	show_stack(page, path);
	show_names_hint(page, path, hint);
	if (path->function_count)
		show_functions(page, path);
}

void text_paths_show(struct page *page, const struct report *report)
{
	const char *hint = NULL;

	if (!report->path_count)
		return;
	page_heading(page, "Call paths by CMetric",
		     !report->code.samples      ? "each moment of wall time is split evenly among the active threads"
		     : report->code.is_critical ? "of the code that ran while few threads were active"
						: "of the code that ran; at no time were few threads active");
	for (size_t i = 0; i < report->path_count; i++) {
		if (i)
			page_end_line(page);
		show_full(page, &report->paths[i], &hint);
	}
	if (report->totals.paths > report->path_count) {
		page_color(page, PAGE_DIM);
		page_put(page, "    ");
		page_put_ellipsis(page);
		page_printf(page, " %llu more paths", (unsigned long long)(report->totals.paths - report->path_count));
		page_end_line(page);
	}
}
