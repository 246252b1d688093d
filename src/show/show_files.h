/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The forms of a report that go to a file: for a browser, folded, as a table. They have more paths than the text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fold_rules;
struct html;
struct report;
struct settings;
struct trace_states;

bool show_files_are_asked(const struct settings *settings);
size_t show_files_path_count(const struct settings *settings);

/* Whether they can be written at all. 0, or a negative errno after a message. */
int show_files_check(const struct settings *settings);

/* html: other parts of it; NULL: there are none. 0, or a negative errno after a message. */
int show_files(const struct settings *settings, const struct fold_rules *fold, const struct report *report,
	       struct html *html);

/* Writes it to the file of --html. */
int show_html(const struct settings *settings, const struct html *html);
