/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pages of the terminal UI: what is on each of them and how it can be ordered. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tui/rows/graphs.h"

struct page;
struct report;
struct row_context;
struct rows;

struct tui_page {
	const char *name;
	char key;                     /* that leads to it */
	const char *short_name;       /* where there is no space for all names; NULL: it has none */
	const char *nothing;          /* said when it has no rows; NULL: what is said of most */
	enum graphs_part graphs_part; /* what has to be made for it first */
	const char *const *sorts;     /* orders, the default first, NULL last; NULL: one only */
	/* Whether a report, or NULL, has figures for an order other than the default; NULL: all have. */
	bool (*has_sort)(const struct report *report, size_t sort);
	bool has_filter; /* a filter makes sense here */
	void (*put_titles)(struct page *page, const struct row_context *context);
	void (*add_rows)(struct rows *rows);
};

/* In the order of their tabs. The last two are of traces, which have no output. */
enum page_number {
	PAGE_SUMMARY,
	PAGE_PATHS,
	PAGE_SYNCHRONISATION,
	PAGE_IO,
	PAGE_LOCKS,
	PAGE_KLOCKS,
	PAGE_THREADS,
	PAGE_BALANCE,
	PAGE_OUTPUT,
	PAGE_GRAPH,
	PAGE_CRITICAL,
	PAGES,
};

extern const struct tui_page *const tui_pages[PAGES];

extern const struct tui_page summary_page, paths_page, synchronisation_page, io_page, locks_page, klocks_page,
	threads_page, balance_page, output_page, graph_page, critical_page, help_page;
