/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/configurations.h"

#include <errno.h>

#include "base/text.h"
#include "options/settings.h"
#include "query/compare_reports.h"
#include "report/report.h"
#include "show/show_files.h"
#include "view/html/html.h"
#include "view/output.h"
#include "view/trace/comparison_code.h"

static void put_run(struct text *out, const struct compare_reports *reports, size_t run, const char *which)
{
	text_put(out, which);
	text_put_escaped(out, reports->paths[run]);
	text_put(out, ", ");
	text_put_duration(out, reports->reports[run]->target.wall_ns);
}

static void put_text(struct text *out, const struct compare_reports *reports, const struct comparison_code *code)
{
	size_t shortest = 0, longest = 0;

	for (size_t i = 1; i < reports->count; i++) {
		if (reports->reports[i]->target.wall_ns < reports->reports[shortest]->target.wall_ns)
			shortest = i;
		if (reports->reports[i]->target.wall_ns > reports->reports[longest]->target.wall_ns)
			longest = i;
	}
	text_printf(out, "%zu runs", reports->count);
	put_run(out, reports, shortest, ": shortest ");
	put_run(out, reports, longest, "; longest ");
	text_put(out, ".\n");
	configurations_put_text(out, code);
}

static int write_html(const struct settings *settings, const struct comparison_code *code)
{
	struct html *html = html_new();
	int err;

	configurations_put_document(html_part(html, "configurations"), code);
	err = show_html(settings, html);
	html_free(html);
	return err;
}

int show_configurations(const struct settings *settings, const struct compare_reports *reports)
{
	const struct comparison_code code = { .configurations = &reports->configurations, .traces = reports->paths };
	struct text out = { 0 };
	int err = 0;

	if (settings->json_path) {
		configurations_put_document(&out, &code);
		err = output_write(settings->json_path, &out);
		out.length = 0;
	}
	if (!err && settings->html_path)
		err = write_html(settings, &code);
	if (!err && (settings->text_path || (!settings->json_path && !settings->html_path))) {
		put_text(&out, reports, &code);
		err = output_write(settings->text_path ? settings->text_path : "-", &out);
	}
	text_fini(&out);
	return err == -EPIPE ? 0 : err;
}
