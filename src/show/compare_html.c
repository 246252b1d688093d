/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/compare_html.h"

#include <stdbool.h>

#include "engine/replay.h"
#include "findings/findings.h"
#include "options/settings.h"
#include "query/compare_sides.h"
#include "show/show_files.h"
#include "view/html/html.h"
#include "view/trace/comparison_view.h"

/* A report is of a whole run: of a part of one it would say something else than the comparison. */
static bool has_reports(const struct settings *settings, const struct comparison_view *view)
{
	return view->comparison->is_of_runs && !settings->range.from_ns && settings->range.to_ns == UINT64_MAX &&
	       !settings->threads.count;
}

/* What cannot be replayed is left out, after it has been said why. */
static void add_report(struct html *html, const char *name, const char *left_out, const struct settings *settings,
		       const char *path)
{
	struct findings *findings;
	struct replay *replay;

	if (replay_open(path,
			&(struct replay_options){ .has_critical_slices = settings->has_critical_slices,
						  .opens_files = settings->opens_files },
			&replay))
		return;
	findings = replay_findings(replay, show_files_path_count(settings));
	html_add_excerpt(html, name, left_out, findings_report(findings));
	findings_free(findings);
	replay_close(replay);
}

int compare_html_write(const struct settings *settings, const struct comparison_view *view,
		       const struct compare_source *sources)
{
	struct html *html = html_new();
	int err;

	comparison_put_json_longest(html_part(html, "comparison"), view, HTML_GRAPH_NODES_MAX);
	if (sources && has_reports(settings, view)) {
		add_report(html, "first", "first_left_out", settings, sources[FIRST_SIDE].path);
		add_report(html, "second", "second_left_out", settings, sources[SECOND_SIDE].path);
	}
	err = show_html(settings, html);
	html_free(html);
	return err;
}
