/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goroutines of Go programs wait for, on average. */
#include <string.h>

#include "base/whole.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_frames.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { WAITS_MAX = 8, NUMBER_COLUMN = 4, WHAT_COLUMN = 21, WHAT_COLUMNS = 28, OWN_COLUMN = 51, WIDE_COLUMNS = 90 };

/* Smaller shares of those that wait are left to the verbose report, and so are goroutines of the runtime's own. */
static const double share_min = 0.01;

/* From there on numbers are whole ones. */
static const double large_min = 100;

static void put_part(struct text *text, double number, bool is_whole)
{
	if (is_whole)
		text_put_count(text, whole(number + 0.5));
	else
		text_printf(text, "%.1f", number);
}

static void put_number(const struct page *page, struct text *text, double number, double error)
{
	bool is_whole = number >= large_min || error >= large_min;

	put_part(text, number, is_whole);
	text_put(text, page->style->has_unicode ? " ± " : " +- ");
	put_part(text, error, is_whole);
}

static void show_process(struct page *page, const struct report_go_process *process)
{
	struct text text = { 0 };

	text_printf(&text, "process %u: ", process->pid);
	put_number(page, &text, process->waiting, process->waiting_error);
	text_put(&text, " wait, ");
	put_number(page, &text, process->runnable, process->runnable_error);
	text_put(&text, " are ready to run, ");
	put_number(page, &text, process->running, process->running_error);
	text_put(&text, " run, ");
	put_number(page, &text, process->in_syscall, process->in_syscall_error);
	text_printf(&text, " are in system calls. Sampled %llu times", (unsigned long long)process->samples);
	if (process->examined_share < 1) {
		text_put(&text, ", each time ");
		page_text_share(&text, process->examined_share);
		text_put(&text, " of them");
	}
	text_put(&text, ".");
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
}

static const struct report_frame *own_of(const struct report_goroutine_wait *wait)
{
	return wait->own_frame < wait->frame_count ? &wait->frames[wait->own_frame] : NULL;
}

static void show_wait(struct page *page, const struct report_goroutine_wait *wait)
{
	const struct report_frame *own = own_of(wait);
	struct text number = { 0 };
	uint32_t columns;

	put_number(page, &number, wait->waiting, wait->waiting_error);
	page_pad_to(page, NUMBER_COLUMN);
	page_printf(page, "%s", number.bytes);
	text_fini(&number);
	page_pad_to(page, WHAT_COLUMN);
	page_color(page, PAGE_RED);
	columns = page_columns_left(page);
	page_put_function(page, wait->what, columns < WHAT_COLUMNS ? columns : WHAT_COLUMNS);
	page_color(page, PAGE_PLAIN);
	if (own && page->width < WIDE_COLUMNS)
		page_end_line(page);
	if (own) {
		page_pad_to(page, page->width < WIDE_COLUMNS ? WHAT_COLUMN : OWN_COLUMN);
		page_color(page, PAGE_BOLD);
		text_put_frame(page, own, page_columns_left(page) / 2);
	}
	page_end_line(page);
	/* What the runtime itself made is the main goroutine. */
	if (wait->creator_count && wait->creator->function &&
	    strncmp(wait->creator->function, "runtime.", strlen("runtime.")) != 0) {
		page_pad_to(page, WHAT_COLUMN);
		page_color(page, PAGE_DIM);
		page_put(page, "made by ");
		text_put_frame(page, &wait->creator[wait->creator_count - 1], page_columns_left(page) / 2);
		page_end_line(page);
	}
	for (size_t i = 0; page->style->is_verbose && i < wait->frame_count; i++) {
		page_pad_to(page, WHAT_COLUMN + 2);
		text_put_frame(page, &wait->frames[i], page_columns_left(page) / 2);
		page_end_line(page);
	}
}

static bool is_shown(const struct page *page, const struct report_go_process *process,
		     const struct report_goroutine_wait *wait, size_t shown)
{
	if (page->style->is_verbose)
		return true;
	return shown < WAITS_MAX && wait->kind != GOROUTINE_RUNTIME && wait->waiting >= share_min * process->waiting;
}

static void show_waits(struct page *page, const struct report_go_process *process)
{
	size_t shown = 0;

	for (size_t i = 0; i < process->wait_count; i++) {
		if (!is_shown(page, process, &process->waits[i], shown))
			continue;
		show_wait(page, &process->waits[i]);
		shown++;
	}
	if (shown == process->wait_count)
		return;
	page_pad_to(page, NUMBER_COLUMN);
	page_color(page, PAGE_DIM);
	page_put_ellipsis(page);
	page_printf(page, " %zu more %s", process->wait_count - shown,
		    process->wait_count - shown == 1 ? "place" : "places");
	page_end_line(page);
}

void text_goroutines_show(struct page *page, const struct report *report)
{
	if (!report->go_process_count)
		return;
	page_heading(page, "Goroutines, on average", "estimated from samples");
	for (size_t i = 0; i < report->go_process_count; i++) {
		show_process(page, &report->goroutines[i]);
		show_waits(page, &report->goroutines[i]);
	}
}
