/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many threads were active, for how long and when. */
#include "view/text/text_sections.h"

#include <math.h>
#include <stdio.h>

#include "report/report.h"
#include "view/page.h"
#include "view/text/bars.h"
#include "view/view.h"

enum { ROWS_MAX = 8, LABEL_COLUMNS = 11, PICTURE_COLUMNS_MAX = 84 };

/* Below this share of the wall time, spinning is not worth a line. */
static const double spinning_share_min = 0.001;

/* Counts of active threads, from `from` up to and without the next row's. */
struct histogram {
	size_t from[ROWS_MAX + 1];
	size_t row_count;
};

static void add_row(struct histogram *histogram, size_t from)
{
	if (!histogram->row_count || histogram->from[histogram->row_count - 1] < from)
		histogram->from[histogram->row_count++] = from;
}

/* Splits [begin, end) into at most so many rows, each wider than the one before by a ratio. */
static void add_rows(struct histogram *histogram, size_t begin, size_t end, size_t rows)
{
	double ratio = pow((double)end / begin, 1.0 / rows);

	for (size_t i = 0; i < rows; i++) {
		size_t from = (size_t)ceil(begin * pow(ratio, i) - 1e-9);

		/* Small numbers differ by less than one: let each have its row. */
		if (i && from <= histogram->from[histogram->row_count - 1])
			from = histogram->from[histogram->row_count - 1] + 1;
		if (from < end)
			add_row(histogram, from);
	}
}

/*
 * One row for each number while they are few. Else ranges that grow; with an N_min of the
 * user one of them ends there, so that rows are critical or not.
 */
static struct histogram histogram_of(const struct report *report)
{
	size_t count = report->parallelism[report->level_count - 1].active + 1;
	uint32_t nmin = report->totals.is_nmin_default ? 0 : report->totals.nmin;
	struct histogram histogram = { 0 };

	add_row(&histogram, 0);
	if (count <= ROWS_MAX) {
		for (size_t i = 1; i < count; i++)
			add_row(&histogram, i);
	} else if (nmin && nmin < count - 1) {
		add_rows(&histogram, 1, nmin + 1, (ROWS_MAX - 1) / 2);
		add_rows(&histogram, nmin + 1, count, ROWS_MAX - histogram.row_count);
	} else {
		add_rows(&histogram, 1, count, ROWS_MAX - 1);
	}
	histogram.from[histogram.row_count] = count > 1 ? count : 1;
	return histogram;
}

static uint32_t picture_columns(const struct page *page)
{
	return page->width - 46 < PICTURE_COLUMNS_MAX ? page->width - 46 : PICTURE_COLUMNS_MAX;
}

static void show_row(struct page *page, const struct report *report, size_t from, size_t end, uint64_t longest_ns,
		     uint64_t time_ns)
{
	bool is_critical = !report->totals.is_nmin_default && from && end - 1 <= report->totals.nmin;
	char label[48];

	if (from + 1 == end)
		snprintf(label, sizeof(label), "%zu", from);
	else
		snprintf(label, sizeof(label), "%zu-%zu", from, end - 1);
	page_printf(page, "%*s  ", LABEL_COLUMNS, label);
	page_color(page, !from ? PAGE_RED : is_critical ? PAGE_YELLOW : PAGE_GREEN);
	bars_put(page, longest_ns ? (double)time_ns / longest_ns : 0, picture_columns(page));
	page_color(page, PAGE_PLAIN);
	page_put_share(page, (double)time_ns / report->target.wall_ns, 9);
	page_put_duration(page, time_ns, 11);
	page_color(page, PAGE_DIM);
	page_put(page, !from ? "  stalled" : is_critical ? "  critical" : "");
	page_end_line(page);
}

static void show_histogram(struct page *page, const struct report *report)
{
	struct histogram histogram = histogram_of(report);
	uint64_t time_ns[ROWS_MAX] = { 0 }, longest_ns = 0;

	for (size_t i = 0, row = 0; i < report->level_count; i++) {
		while (report->parallelism[i].active >= histogram.from[row + 1])
			row++;
		time_ns[row] += report->parallelism[i].ns;
		if (time_ns[row] > longest_ns)
			longest_ns = time_ns[row];
	}
	for (size_t row = !time_ns[0]; row < histogram.row_count; row++)
		show_row(page, report, histogram.from[row], histogram.from[row + 1], longest_ns, time_ns[row]);
}

static void show_timeline(struct page *page, const struct report *report)
{
	double max = 0;

	for (size_t i = 0; i < report->timeline_count; i++)
		if (report->timeline[i] > max)
			max = report->timeline[i];
	page_printf(page, "%*s  ", LABEL_COLUMNS, "over time");
	page_color(page, PAGE_CYAN);
	bars_put_sparkline(page, report->timeline, report->timeline_count, max, picture_columns(page));
	page_color(page, PAGE_DIM);
	page_printf(page, "  average %.1f, peak %.1f", report->totals.parallelism, max);
	page_end_line(page);
}

static void put_part(struct text *text, const struct report *report, const char *label, uint64_t time_ns)
{
	text_printf(text, "%s ", label);
	text_put_duration(text, time_ns);
	text_put(text, " (");
	page_text_share(text, (double)time_ns / report->target.wall_ns);
	text_put(text, ")");
}

/* What becomes of the wall time, where some of it is spent spinning. */
static void show_split(struct page *page, const struct report *report)
{
	struct text text = { 0 };

	if (report->balance.wall.spinning_ns < spinning_share_min * report->target.wall_ns)
		return;
	put_part(&text, report, "useful", report->balance.wall.useful_ns);
	put_part(&text, report, ", spinning", report->balance.wall.spinning_ns);
	put_part(&text, report, ", stalled", report->balance.wall.stalled_ns);
	page_paragraph(page, "      split  ", text.bytes);
	text_fini(&text);
}

void text_parallel_show(struct page *page, const struct report *report)
{
	struct text text = { 0 };

	if (!report->target.wall_ns || !report->level_count)
		return;
	page_heading(page, "Active threads over the wall time",
		     report->totals.is_spin_inactive ? "running or runnable, and not spinning" : "running or runnable");
	show_histogram(page, report);
	if (report->timeline_count > 1)
		show_timeline(page, report);
	text_put_duration(&text, report->totals.critical_ns);
	text_put(&text, " (");
	page_text_share(&text, (double)report->totals.critical_ns / report->target.wall_ns);
	text_put(&text, ") with at most ");
	if (report->totals.is_nmin_default)
		text_put(&text, "half of the threads active");
	else
		text_printf(&text, "%u active", report->totals.nmin);
	if (report->totals.stalls) {
		text_put(&text, "; stalled ");
		text_put_count(&text, report->totals.stalls);
		text_put(&text, report->totals.stalls == 1 ? " time, " : " times, ");
		text_put_duration(&text, report->totals.stalled_ns);
	}
	page_paragraph(page, "   critical  ", text.bytes);
	text_fini(&text);
	show_split(page, report);
}
