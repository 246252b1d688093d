/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One file for a browser: the page of web/, which is compiled in, and behind it parts of JSON that it
 * draws. Parts are compressed and in base64, so that nothing in them can end the element it is in.
 *
 * Owns: the report as a page for a browser.
 * Used by: show, live, serve, cmd.
 */
#pragma once

#include <stdbool.h>

struct fold_rules;
struct html;
struct report;
struct text;

enum { HTML_GRAPH_NODES_MAX = 20000 }; /* a picture shows a few hundred, a table all */

struct html *html_new(void);
void html_free(struct html *html);

/*
 * Where to put the JSON of one more part; valid until the next call. web/src/parts.ts knows the names:
 * "report", "left_out", "folds", "timelines", "marks", "graph", "path", "comparison", "configurations", "first", "first_left_out",
 * "second", "second_left_out", "klock", "viewer".
 */
struct text *html_part(struct html *html, const char *name);
bool html_has_part(const struct html *html, const char *name);

/*
 * The part of this name is a report without what a page has no space for; what that is, if anything, is
 * another part.
 */
void html_add_excerpt(struct html *html, const char *name, const char *left_out, const struct report *report);

/*
 * The same as "report" and "left_out", with what the rules say of its frames, "folds"; if strips were kept and there are
 * none yet, "timelines", too.
 */
void html_add_report(struct html *html, const struct report *report, const struct fold_rules *fold);

/* The page begins with this part, which it has, if it was called before the report was added. */
void html_begin_with(struct html *html, const char *name);
bool html_begins_with(const struct html *html, const char *name);

/* The page may ask the server that it comes from; else it asks nobody. */
void html_serve(struct html *html);

/* The whole file. */
void html_put(const struct html *html, struct text *out);
