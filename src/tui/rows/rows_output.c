/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of what the command has written. */
#include <string.h>

#include "base/text.h"
#include "tui/rows/pages.h"
#include "tui/rows/rows.h"
#include "tui/terminal/output_lines.h"
#include "view/page.h"

static void put_line(struct page *page, const struct row *row, const struct row_context *context)
{
	page_put_name(page, output_lines_at(context->output, row->index, NULL), page_columns_left(page));
}

static void add_whole_line(struct rows *rows, const struct row *row)
{
	rows_add_whole(rows, row, 0, "", output_lines_at(rows_context(rows)->output, row->index, NULL));
}

static const struct row_kind line_kind = { put_line, add_whole_line };

static void add_losses(struct rows *rows, const struct output_lines *output)
{
	struct output_losses losses = output_lines_losses(output);
	struct text line = { 0 };

	if (losses.lines) {
		text_put_count(&line, losses.lines);
		text_put(&line, losses.lines == 1 ? " earlier line was dropped" : " earlier lines were dropped");
	}
	if (losses.bytes) {
		text_put(&line, line.length ? "; " : "");
		text_put_count(&line, losses.bytes);
		text_put(&line, " bytes of lines longer than ");
		text_put_count(&line, OUTPUT_LINE_BYTES_MAX);
		text_put(&line, " were not kept");
	}
	if (line.length)
		rows_add_text(rows, NULL, 0, line.bytes);
	text_fini(&line);
}

static void add_rows(struct rows *rows)
{
	const struct row_context *context = rows_context(rows);
	const struct output_lines *output = context->output;
	size_t count = output ? output_lines_count(output) : 0;

	if (!output) {
		rows_add_text(rows, NULL, 0, "pinch did not start the command: its output is not shown here.");
		return;
	}
	add_losses(rows, output);
	if (!count)
		rows_add_text(rows, NULL, 1, "The command has not written anything.");
	for (size_t i = 0; i < count; i++) {
		uint64_t number;
		const char *line = output_lines_at(output, i, &number);

		rows_add(rows, NULL,
			 (struct row){
				 .kind = &line_kind,
				 .key = number + 1,
				 .index = i,
				 .can_unfold = strlen(line) > context->width - ROW_MARK_COLUMNS || strchr(line, '\033'),
			 });
	}
}

const struct tui_page output_page = {
	.name = "OUTPUT",
	.key = 'o',
	.add_rows = add_rows,
};
