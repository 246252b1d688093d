/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time in which no thread was active, by the wait whose end ended it. */
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"
#include "view/view.h"

/* Shorter stalls than this share of the wall time are not worth a section. */
static const double stalled_share_min = 0.01;

void text_stalls_show(struct page *page, const struct report *report)
{
	double wall_ns = report->target.wall_ns;

	if (!report->stall_path_count || report->totals.stalled_ns < stalled_share_min * wall_ns)
		return;
	page_end_line(page);
	page_color(page, PAGE_BOLD);
	page_put(page, "Stalls");
	page_color(page, PAGE_DIM);
	page_put(page, "  (no thread active, until a wait ended here)");
	page_end_line(page);
	for (size_t i = 0; i < report->stall_path_count; i++) {
		const struct report_path *path = &report->stall_paths[i];
		const struct report_frame *frame = text_path_headline(path, page->style->fold);

		page_pad_to(page, 4);
		page_put_share(page, path->stalled_ns / wall_ns, 8);
		page_put_duration(page, path->stalled_ns, 11);
		page_put(page, "  ");
		if (frame)
			text_put_frame(page, frame, page_columns_left(page) / 2);
		else
			page_put(page, "a wait whose stack was not taken");
		page_end_line(page);
	}
}
