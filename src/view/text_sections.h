/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the text view, in the order in which text.c shows them. */
#pragma once

struct page;
struct report;

void text_verdict_show(struct page *page, const struct report *report);
void text_parallel_show(struct page *page, const struct report *report);
void text_paths_show(struct page *page, const struct report *report);
void text_stalls_show(struct page *page, const struct report *report);
void text_threads_show(struct page *page, const struct report *report);
void text_totals_show(struct page *page, const struct report *report);

void text_balance_show(struct page *page, const struct report *report);
void text_findings_show(struct page *page, const struct report *report);
void text_waits_show(struct page *page, const struct report *report);
void text_locks_show(struct page *page, const struct report *report);
void text_io_show(struct page *page, const struct report *report);
