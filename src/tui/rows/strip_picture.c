/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/rows/strip_picture.h"

#include <stdbool.h>

#include "report/report.h"
#include "view/page.h"
#include "view/text/bars.h"
#include "view/view.h"

enum state { STATE_NONE, STATE_BLOCKED, STATE_RUNNABLE, STATE_RUNNING, STATES };

static const char *glyph_of(const struct page *page, enum state state)
{
	static const char *const glyphs[STATES][2] = {
		{ " ", " " },
		{ ".", "·" },
		{ "-", "▒" },
		{ "#", "█" },
	};

	return glyphs[state][page->style->has_unicode];
}

/* The mean over columns begin to end of `columns`, which may be less than one part or several. */
static struct report_strip_part mean_of(const struct report_strip_part *parts, size_t count, uint32_t column,
					uint32_t columns)
{
	size_t begin = (size_t)column * count / columns;
	size_t end = ((size_t)column + 1) * count / columns;
	struct report_strip_part mean = { 0 };

	if (end == begin)
		end++;
	for (size_t i = begin; i < end; i++) {
		mean.running += parts[i].running / (end - begin);
		mean.runnable += parts[i].runnable / (end - begin);
		mean.blocked += parts[i].blocked / (end - begin);
	}
	return mean;
}

static enum state state_of(const struct report_strip_part *part)
{
	float none = 1 - part->running - part->runnable - part->blocked;

	if (part->running >= part->runnable && part->running >= part->blocked && part->running > 0 &&
	    part->running >= none)
		return STATE_RUNNING;
	if (part->runnable >= part->blocked && part->runnable > 0 && part->runnable >= none)
		return STATE_RUNNABLE;
	/* A thread that lived for a moment only was there. */
	if (part->blocked >= none)
		return STATE_BLOCKED;
	if (part->running + part->runnable + part->blocked <= 0)
		return STATE_NONE;
	return part->running >= part->runnable + part->blocked ? STATE_RUNNING
	       : part->runnable >= part->blocked               ? STATE_RUNNABLE
							       : STATE_BLOCKED;
}

static void set_color(struct page *page, enum state state)
{
	static const enum page_color colors[STATES] = {
		PAGE_PLAIN,
		PAGE_DIM,
		PAGE_YELLOW,
		PAGE_GREEN,
	};

	page_color(page, colors[state]);
}

void strip_put_thread(struct page *page, const struct report_strip_part *parts, size_t count, uint32_t columns)
{
	for (uint32_t i = 0; parts && count && i < columns; i++) {
		struct report_strip_part part = mean_of(parts, count, i, columns);
		enum state state = state_of(&part);

		set_color(page, state);
		page_put(page, glyph_of(page, state));
	}
}

void strip_put_group(struct page *page, const struct report_strip_part *parts, size_t count, uint32_t columns)
{
	double max = 0, active;

	for (size_t i = 0; parts && i < count; i++) {
		active = parts[i].running + parts[i].runnable;
		max = active > max ? active : max;
	}
	page_color(page, PAGE_CYAN);
	for (uint32_t i = 0; parts && count && i < columns; i++) {
		struct report_strip_part part = mean_of(parts, count, i, columns);

		active = part.running + part.runnable;
		if (active + part.blocked > 0)
			bars_put_sparkline(page, &active, 1, max, 1);
		else
			page_put(page, " ");
	}
}

void strip_put_legend(struct page *page)
{
	static const char *const words[STATES] = { NULL, " blocked", " CPU wait ", " running " };

	for (enum state state = STATE_RUNNING; state > STATE_NONE; state--) {
		page_put(page, glyph_of(page, state));
		page_put(page, words[state]);
	}
}
