/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text view in pages, those of the terminal UI, for who wants only some of them but in full. */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

enum { SECTIONS_MAX = 6 };

struct text_page {
	const char *name;
	bool is_brief;       /* of each kind what is first; else all there is */
	const char *nothing; /* said when there is nothing else */
	void (*sections[SECTIONS_MAX])(struct page *page, const struct report *report);
};

static void show_synchronisation(struct page *page, const struct report *report)
{
	text_waits_show_group(page, report, GROUP_SYNCHRONISATION);
}

static void show_input_output(struct page *page, const struct report *report)
{
	text_waits_show_group(page, report, GROUP_IO);
}

static const struct text_page pages[] = {
	{ "SUMMARY",
	  true,
	  "",
	  { text_details_show, text_balance_show, text_findings_show, text_whatifs_show, text_summary_show,
	    text_threads_show } },
	{ "PATHS", false, "No call path was critical.", { text_paths_show, text_functions_show, text_stalls_show } },
	{ "SYNCHRONISATION",
	  false,
	  "No thread waited for another one.",
	  { show_synchronisation, text_goroutines_show } },
	{ "IO",
	  false,
	  "No thread waited for a file or a socket.",
	  { show_input_output, text_io_show, text_listeners_show } },
	{ "LOCKS", false, "No thread waited for a lock.", { text_locks_show } },
	{ "KLOCKS", false, "No thread waited for a kernel lock.", { text_klocks_show_all } },
	{ "THREADS", false, "No thread ran.", { text_threads_show, text_loops_show } },
	{ "BALANCE", false, "No thread ran.", { text_balance_show, text_blame_show, text_parallel_show } },
};

enum { PAGE_COUNT = sizeof(pages) / sizeof(*pages) };

static int add_page(const char *name, size_t length, uint32_t *chosen)
{
	for (size_t i = 0; i < PAGE_COUNT; i++) {
		if (strlen(pages[i].name) == length && !strncasecmp(pages[i].name, name, length)) {
			*chosen |= 1u << i;
			return 0;
		}
	}
	return -EINVAL;
}

int text_pages_parse(const char *names, uint32_t *chosen)
{
	uint32_t more = 0;

	for (;;) {
		size_t length = strcspn(names, ",");

		if (add_page(names, length, &more))
			return -EINVAL;
		if (!names[length])
			break;
		names += length + 1;
	}
	*chosen |= more;
	return 0;
}

void text_pages_list(struct text *text)
{
	for (size_t i = 0; i < PAGE_COUNT; i++) {
		text_put(text, i ? ", " : "");
		text_put(text, pages[i].name);
	}
}

static void show_page(struct page *page, const struct report *report, const struct text_page *one)
{
	const struct view_style *style = page->style;
	struct view_style full = *style;
	size_t begin;

	page_end_line(page);
	full.is_verbose |= !one->is_brief;
	page->style = &full;
	page_color(page, PAGE_BOLD);
	page_put(page, one->name);
	page_end_line(page);
	begin = page->out->length;
	for (size_t i = 0; i < SECTIONS_MAX && one->sections[i]; i++)
		one->sections[i](page, report);
	if (page->out->length == begin) {
		page_put(page, one->nothing);
		page_end_line(page);
	}
	page->style = style;
}

void text_pages_show(struct page *page, const struct report *report)
{
	for (size_t i = 0; i < PAGE_COUNT; i++)
		if (page->style->pages & 1u << i)
			show_page(page, report, &pages[i]);
}
