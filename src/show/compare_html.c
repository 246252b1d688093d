/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/compare_html.h"

#include "compare/comparison.h"
#include "options/settings.h"
#include "query/compare_reports.h"
#include "show/show_files.h"
#include "view/html/html.h"
#include "view/trace/comparison_view.h"

int compare_html_write(const struct settings *settings, const struct comparison_view *view,
		       const struct compare_reports *reports)
{
	struct html *html = html_new();
	int err;

	comparison_put_json_longest(html_part(html, "comparison"), view, HTML_GRAPH_NODES_MAX);
	if (reports->count == SIDES) {
		html_add_excerpt(html, "first", "first_left_out", reports->reports[FIRST_SIDE]);
		html_add_excerpt(html, "second", "second_left_out", reports->reports[SECOND_SIDE]);
	}
	err = show_html(settings, html);
	html_free(html);
	return err;
}
