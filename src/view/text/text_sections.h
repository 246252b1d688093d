/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the text view, in the order in which text.c shows them.
 *
 * Owns: the report as text.
 * Used by: view/json, tui/rows.
 */
#pragma once

#include "report/report_enums.h"

struct page;
struct report;
struct report_hot_function;
struct text;

void text_verdict_show(struct page *page, const struct report *report);
/* Nothing, where the report is of all waits. */
void text_choice_show(struct page *page, const struct report *report);
/* The same, where no parts were asked for. */
void text_parts_show(struct page *page, const struct report *report);
void text_details_show(struct page *page, const struct report *report);

/* The report as a whole, what comes first of it. */
void text_brief_show(struct page *page, const struct report *report);

void text_parallel_show(struct page *page, const struct report *report);
void text_paths_show(struct page *page, const struct report *report);
void text_functions_show(struct page *page, const struct report *report);
void text_stalls_show(struct page *page, const struct report *report);
void text_threads_show(struct page *page, const struct report *report);
void text_totals_show(struct page *page, const struct report *report);
/* Of it, only what was lost. */
void text_losses_show(struct page *page, const struct report *report);

void text_balance_show(struct page *page, const struct report *report);
void text_findings_show(struct page *page, const struct report *report);
/* Where all is shown. */
void text_blame_show(struct page *page, const struct report *report);

void text_whatifs_show(struct page *page, const struct report *report);
void text_waits_show(struct page *page, const struct report *report);
void text_locks_show(struct page *page, const struct report *report);
/* Where they matter, the first ones. */
void text_klocks_show(struct page *page, const struct report *report);
void text_io_show(struct page *page, const struct report *report);
void text_goroutines_show(struct page *page, const struct report *report);
void text_loops_show(struct page *page, const struct report *report);
void text_listeners_show(struct page *page, const struct report *report);
void text_activities_show(struct page *page, const struct report *report);
/* At most so many. */
void text_hints_show(struct page *page, const struct report *report, size_t shown_max);

/* Only on pages of their own: what is most critical of each kind, and all waits of a group of causes. */
void text_summary_show(struct page *page, const struct report *report);
void text_klocks_show_all(struct page *page, const struct report *report);
void text_waits_show_group(struct page *page, const struct report *report, enum cause_group group);

/* Those that the style has chosen. */
void text_pages_show(struct page *page, const struct report *report);

/* Its figures, name and first line, to the end of the line. */
void text_put_hot_function(struct page *page, const struct report_hot_function *hot);

/* "label a, b" behind what the text has; of no names nothing. */
void text_put_names(struct page *page, struct text *text, const char *label, const char *const *names, size_t count);
