/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports of a trace, or of a part of it, as pages: what pinch cut and pinch report --html make of it, in processes of their own, so that
 * the viewer goes on meanwhile and says the same as the commands. The last few are kept.
 */
#pragma once

struct reply;
struct report_pages;
struct request;

/* The path is borrowed. */
struct report_pages *report_pages_new(const char *trace_path);
void report_pages_free(struct report_pages *pages);

/* Parameters: from, to: ns since the first event; both may be left out. May be called by several threads. */
void report_pages_answer(struct report_pages *pages, const struct request *request, struct reply *reply);
