/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads did in the chosen parts of their time, where some were asked for. */
#include <string.h>

#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { NAME_COLUMNS = 26, TIME_COLUMNS = 10, BRIEF_STATES = 4 };

static void show_asked(struct page *page, const struct report_parts *parts)
{
	struct text text = { 0 };

	text_put_names(page, &text, "CPU", parts->cpus, parts->cpu_count);
	text_put_names(page, &text, "spans", parts->spans, parts->span_count);
	text_put_names(page, &text, "cause", parts->causes, parts->cause_count);
	text_put_names(page, &text, "object", parts->objects, parts->object_count);
	page_color(page, PAGE_BOLD);
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
	text_put_duration(&text, parts->ns);
	text_put(&text, ", ");
	page_text_share(&text, parts->all_ns ? (double)parts->ns / parts->all_ns : 0);
	text_put(&text, " of the time of all threads");
	page_paragraph(page, "  ", text.bytes);
	text_fini(&text);
}

/* Its name is there already. */
static void put_time(struct page *page, uint64_t ns, uint64_t of_ns)
{
	page_pad_to(page, 2 + NAME_COLUMNS);
	page_put_share(page, of_ns ? (double)ns / of_ns : 0, 8);
	page_put(page, "  ");
	page_put_duration(page, ns, TIME_COLUMNS);
}

static const char *title_of(const char *state)
{
	return strcmp(state, "runnable") ? state : "waiting for a CPU";
}

static void show_states(struct page *page, const struct report_parts *parts)
{
	bool is_brief = !page->style->is_verbose && parts->state_count > BRIEF_STATES;

	for (size_t i = 0; i < (is_brief ? BRIEF_STATES : parts->state_count); i++) {
		page_put(page, "  ");
		page_put_name(page, title_of(parts->states[i].state), NAME_COLUMNS);
		put_time(page, parts->states[i].ns, parts->ns);
		page_end_line(page);
	}
}

static void show_waits(struct page *page, const struct report_parts *parts)
{
	if (!parts->wait_count)
		return;
	page_heading(page, "Waits in chosen parts", NULL);
	for (size_t i = 0; i < parts->wait_count; i++) {
		const struct report_part_wait *wait = &parts->waits[i];

		page_put(page, "  ");
		page_put_name(page, title_of(wait->state), NAME_COLUMNS);
		put_time(page, wait->ns, parts->ns);
		page_put_count(page, wait->waits, TIME_COLUMNS);
		page_put(page, wait->waits == 1 ? " wait   " : " waits  ");
		if (wait->object)
			page_put_path(page, wait->object, page_columns_left(page));
		page_end_line(page);
	}
}

static void show_threads(struct page *page, const struct report_parts *parts)
{
	if (!parts->thread_count)
		return;
	page_heading(page, "Threads in chosen parts", NULL);
	for (size_t i = 0; i < parts->thread_count; i++) {
		const struct report_part_thread *thread = &parts->threads[i];

		page_put(page, "  ");
		page_put_name(page, thread->name, NAME_COLUMNS - 1);
		put_time(page, thread->ns, parts->ns);
		page_put(page, "  running ");
		page_put_duration(page, thread->running_ns, 0);
		page_end_line(page);
	}
}

void text_parts_show(struct page *page, const struct report *report)
{
	const struct report_parts *parts = report->parts;

	if (!parts)
		return;
	page_heading(page, "Chosen parts",
		     "of what threads did, by the history of states; all else but activities is of all");
	show_asked(page, parts);
	show_states(page, parts);
	if (!page->style->is_verbose)
		return;
	show_waits(page, parts);
	show_threads(page, parts);
}
