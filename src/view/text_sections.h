/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the text view, in the order in which text.c shows them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fold_rules;
struct page;
struct report;
struct report_frame;
struct report_hot_function;
struct report_path;
struct text;

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

/* Only on pages of their own: what is most critical of each kind, and all waits of a group of causes. */
void text_summary_show(struct page *page, const struct report *report);
void text_waits_show_group(struct page *page, const struct report *report, const char *group);

/* Those that the style has chosen. */
void text_pages_show(struct page *page, const struct report *report);

/* Its figures, name and first line, to the end of the line. */
void text_put_hot_function(struct page *page, const struct report_hot_function *hot);

/* The frame that a call path is named after. */
void text_put_place(struct page *page, const struct report_frame *frames, size_t count);

/*
 * The frame that a path is named after: the innermost one of the user's own code, else the
 * innermost outside the kernel. NULL when the path has no frames.
 */
const struct report_frame *text_path_headline(const struct report_path *path,
					      const struct fold_rules *fold);
const struct report_frame *text_headline(const struct report_frame *frames, size_t count,
					 const struct fold_rules *fold);

/* The function and place of a frame, the name in at most so many columns. */
void text_put_frame(struct page *page, const struct report_frame *frame, uint32_t columns_max);

/* A frame's function, or module+0xoffset when it has no name. */
void text_frame_name(struct text *text, const struct report_frame *frame);
