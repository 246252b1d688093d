/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace in the formats of other tools. One walk over the history of states and the events, in the order of time, hands what there is
 * to a format, which writes it as it comes. Memory grows with threads and distinct call paths, not with events.
 *
 * Owns: traces in other tools' formats.
 * Used by: cmd.
 */
#pragma once

struct export_counts;
struct export_format;
struct export_options;
struct export_out;
struct trace_states;

/* Ends with NULL. */
extern const struct export_format *const export_formats[];

/* NULL: there is none of that name. */
const struct export_format *export_format_find(const char *name);

/* 0; a negative errno, after a message; -EPIPE: who read is gone, and nothing was said. */
int export_run(const struct trace_states *all, const struct export_options *options, struct export_out *out,
	       struct export_counts *counts);
