/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the report of a trace has for a browser besides: its states, its graph, its critical path. */
#pragma once

struct fold_rules;
struct html;
struct settings;

/* What cannot be made is left out, after a message. */
void report_html_add(struct html *html, const struct settings *settings, const char *trace_path,
		     const struct fold_rules *fold);
