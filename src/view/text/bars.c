/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/text/bars.h"

#include <stdbool.h>

#include "view/page.h"
#include "view/view.h"

static void put_glyph(struct page *page, const char *glyph, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		page_put(page, glyph);
}

/* Unlike page_pad_to() content with a line that is there already. */
static void pad_to(struct page *page, uint32_t end)
{
	while (page->column < end)
		page_put(page, " ");
}

const char *bars_first_glyph(const struct page *page)
{
	return page->style->has_unicode ? "█" : "#";
}

const char *bars_second_glyph(const struct page *page)
{
	return page->style->has_unicode ? "▒" : "-";
}

/* Also takes what is not a number. */
static double clamp(double share)
{
	return share > 1 ? 1 : share > 0 ? share : 0;
}

void bars_put(struct page *page, double share, uint32_t columns)
{
	static const char *const parts[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
	uint32_t eighths, end = page->column + columns;

	if (!columns)
		return;
	share = clamp(share);
	if (page->style->has_unicode) {
		eighths = share * columns * 8 + 0.5;
		if (!eighths && share > 0)
			eighths = 1;
		put_glyph(page, bars_first_glyph(page), eighths / 8);
		put_glyph(page, parts[eighths % 8], eighths % 8 != 0);
	} else {
		eighths = share * columns + 0.5;
		put_glyph(page, "#", !eighths && share > 0 ? 1 : eighths);
	}
	pad_to(page, end);
}

void bars_put_two(struct page *page, double share, double second, uint32_t columns)
{
	uint32_t all, first, end = page->column + columns;

	if (!columns)
		return;
	share = clamp(share);
	second = clamp(second);
	if (second <= 0) {
		page_color(page, PAGE_CYAN);
		bars_put(page, share, columns);
		page_color(page, PAGE_PLAIN);
		return;
	}
	all = share * columns + 0.5;
	if (!all && share > 0)
		all = 1;
	first = all * (1 - second) + 0.5;
	page_color(page, PAGE_CYAN);
	put_glyph(page, bars_first_glyph(page), first);
	page_color(page, PAGE_YELLOW);
	put_glyph(page, bars_second_glyph(page), all - first);
	page_color(page, PAGE_PLAIN);
	pad_to(page, end);
}

static double mean_of(const double *values, size_t begin, size_t end)
{
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += values[i];
	return sum / (end - begin);
}

void bars_put_sparkline(struct page *page, const double *values, size_t count, double max, uint32_t columns)
{
	static const char *const blocks[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const ascii[] = { ".", ":", "-", "=", "+", "*", "#", "@" };
	bool has_unicode = page->style->has_unicode;

	if (columns > count)
		columns = count;
	for (uint32_t i = 0; i < columns; i++) {
		double value = mean_of(values, i * count / columns, (i + 1) * count / columns);
		uint32_t level = clamp(max > 0 ? value / max : 0) * 8;

		if (!(value > 0))
			put_glyph(page, has_unicode ? "·" : "_", 1);
		else
			put_glyph(page, (has_unicode ? blocks : ascii)[level < 8 ? level : 7], 1);
	}
}
