/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/rows_stack.h"

#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "stacks/fold.h"
#include "tui/rows/rows.h"
#include "view/page.h"
#include "view/text/text_frames.h"

enum { LABELS_MAX = 4, PLACE_COLUMNS = 30, FLAG_COLUMNS = 9, KERNEL_ROWS_MAX = 5 };

/* index: how many frames it stands for; owner: the frame that the path is named after. */
static void put_frame(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_frame *frame = row->item;
	bool is_headline = row->owner == frame;

	if (is_headline)
		page_color(page, PAGE_RED);
	page_put(page, !is_headline ? "  " : context->has_unicode ? "● " : "* ");
	page_color(page, is_headline ? PAGE_BOLD : PAGE_PLAIN);
	text_put_frame(page, frame,
		       page_columns_left(page) > PLACE_COLUMNS + FLAG_COLUMNS + 20
			       ? page_columns_left(page) - PLACE_COLUMNS - FLAG_COLUMNS
			       : 20);
	page_color(page, PAGE_DIM);
	if (frame->is_inlined && page_columns_left(page) >= FLAG_COLUMNS)
		page_put(page, " inlined");
	if (frame->is_tail_call && page_columns_left(page) >= 11)
		page_put(page, " tail call");
	if (frame->is_guessed && page_columns_left(page) >= 18)
		page_put(page, " by frame pointer");
	if (row->index > 1 && page_columns_left(page) >= 16)
		page_printf(page, " %zu times", row->index);
}

/* What its row is too narrow for. */
static void add_whole_frame(struct rows *rows, const struct row *row)
{
	const struct report_frame *frame = row->item;
	struct text text = { 0 };

	text_frame_name(&text, frame);
	rows_add_whole(rows, row, 0, "  ", text.bytes);
	text_fini(&text);
	if (!frame->file)
		return;
	text_printf(&text, "%s:%u", frame->file, frame->line);
	rows_add_whole(rows, row, 1000, "  ", text.bytes);
	text_fini(&text);
}

static const struct row_kind frame_kind = { put_frame, add_whole_frame };

static bool is_too_long(const struct row_context *context, const struct report_frame *frame)
{
	return frame->function &&
	       text_columns(frame->function) + PLACE_COLUMNS + FLAG_COLUMNS + ROW_MARK_COLUMNS + 3 * ROW_INDENT >
		       context->width;
}

static size_t add_frame(struct rows *rows, const struct row *parent, size_t number, const struct report_frame *frames,
			size_t count, const struct report_frame *headline)
{
	size_t repeats = text_repeat_count(frames, count);

	rows_add(rows, parent,
		 (struct row){
			 .kind = &frame_kind,
			 .key = number,
			 .item = frames,
			 .owner = headline,
			 .index = repeats,
			 .can_unfold = is_too_long(rows_context(rows), frames),
		 });
	return repeats;
}

static void put_run(struct page *page, const struct row *row, const struct row_context *context)
{
	const struct report_frame *frames = row->item;
	const char *labels[LABELS_MAX];
	size_t label_count = 0;

	for (size_t i = 0; i < row->count; i++) {
		const char *label = frames[i].is_kernel ? "kernel" : fold_find_label(context->fold, &frames[i]);

		if (label && label_count < LABELS_MAX && text_is_new_label(labels, label_count, label))
			labels[label_count++] = label;
	}
	page_color(page, PAGE_DIM);
	page_put(page, context->has_unicode ? "  ‹" : "  <");
	for (size_t i = 0; i < label_count; i++) {
		page_put(page, i ? ", " : "");
		page_put_name(page, labels[i], page_columns_left(page) > 24 ? page_columns_left(page) - 20 : 4);
	}
	page_put(page, context->has_unicode ? "›" : ">");
	page_printf(page, " %zu %s", row->count, row->count == 1 ? "frame" : "frames");
}

static void add_run_frames(struct rows *rows, const struct row *row)
{
	const struct report_frame *frames = row->item;

	for (size_t i = 0; i < row->count;)
		i += add_frame(rows, row, i, frames + i, row->count - i, NULL);
}

static const struct row_kind run_kind = { put_run, add_run_frames };

/* How many frames from the first on are boilerplate, except for the headline. */
static size_t run_length(const struct row_context *context, const struct report_frame *frames, size_t count,
			 const struct report_frame *headline)
{
	size_t length = 0;

	while (length < count && frames + length != headline && fold_find_label(context->fold, &frames[length]))
		length++;
	return length;
}

/* What a wait is in the kernel's eyes, of which the innermost frames say enough. */
static size_t kernel_length(const struct report_frame *frames, size_t i, size_t count)
{
	size_t length = 0;

	while (i >= KERNEL_ROWS_MAX && i + length < count && frames[i + length].is_kernel)
		length++;
	return length;
}

static const char *const stack_ends[STACK_ENDS] = {
	[STACK_TRUNCATED] = "callers missing: deeper than --depth",
	[STACK_NO_TABLE] = "callers missing: this code has no unwind table",
	[STACK_UNREADABLE] = "callers missing: the stack could not be read",
};

void rows_add_stack(struct rows *rows, const struct row *parent, size_t number, const struct report_frame *frames,
		    size_t count, enum stack_end end)
{
	const struct row_context *context = rows_context(rows);
	const struct report_frame *headline = text_headline(frames, count, context->fold);

	if (!count) {
		rows_add_text(rows, parent, number, "  the stack could not be read");
		return;
	}
	for (size_t i = 0; i < count; number++) {
		size_t length = kernel_length(frames, i, count);

		if (!length && i)
			length = run_length(context, frames + i, count - i, headline);
		if (!length) {
			i += add_frame(rows, parent, number, frames + i, count - i, headline);
			continue;
		}
		rows_add(rows, parent,
			 (struct row){
				 .kind = &run_kind,
				 .key = number,
				 .item = frames + i,
				 .count = length,
				 .can_unfold = true,
			 });
		i += length;
	}
	if (stack_ends[end]) {
		char line[80] = "  ";

		rows_add_text(rows, parent, number, strcat(line, stack_ends[end]));
	}
}
