/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of programs' own as marks on the page's time lines: names once, then for each event its row, when it was, its name and its
 * argument. Of more than the page can show, each n-th is there, and it says how many are not.
 */
#pragma once

struct html;
struct trace_states;

/* Adds the part "marks", unless the trace has no such events, or cannot be read. */
void trace_marks_add(struct html *html, const struct trace_states *all, const char *trace_path);
