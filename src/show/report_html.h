/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the report of a trace has for a browser besides: its states, its graph, its critical path. */
#pragma once

struct fold_rules;
struct html;
struct settings;

/* settings: of whom to show. What cannot be made is left out, after a message. */
void report_html_add(struct html *html, const struct settings *settings, const char *trace_path,
		     const struct fold_rules *fold);

/* The same of a trace that was just recorded, for this one use: only if it is a regular file, and small. In silence. */
void report_html_add_for_once(struct html *html, const struct settings *settings, const char *trace_path,
			      const struct fold_rules *fold);
