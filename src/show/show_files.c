/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/show_files.h"

#include "base/text.h"
#include "options/settings.h"
#include "view/html/html.h"
#include "view/output.h"
#include "view/table/csv.h"
#include "view/table/folded.h"

enum { PATHS_MAX = 1000 }; /* unless --top says otherwise */

bool show_files_are_asked(const struct settings *settings)
{
	return settings->html_path || settings->folded_path || settings->csv_path;
}

size_t show_files_path_count(const struct settings *settings)
{
	return settings->has_path_count ? settings->path_count_max : PATHS_MAX;
}

int show_files_check(const struct settings *settings)
{
	const char *const paths[] = { settings->html_path, settings->folded_path, settings->csv_path };
	int err = 0;

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && !err; i++)
		if (paths[i])
			err = output_check(paths[i]);
	return err;
}

int show_html(const struct settings *settings, const struct html *html)
{
	struct text text = { 0 };
	int err;

	html_put(html, &text);
	err = output_write(settings->html_path, &text);
	text_fini(&text);
	return err;
}

static int show_page(const struct settings *settings, const struct fold_rules *fold, const struct report *report,
		     struct html *html)
{
	struct html *own = html ? NULL : html_new(), *page = html ? html : own;
	int err;

	if (settings->first_page == PAGE_KLOCKS)
		html_begin_with(page, "klock");
	html_add_report(page, report, fold);
	err = show_html(settings, page);
	html_free(own);
	return err;
}

static int show_one(const char *path, const struct report *report,
		    void (*put)(struct text *out, const struct report *report))
{
	struct text text = { 0 };
	int err = 0;

	if (path) {
		put(&text, report);
		err = output_write(path, &text);
	}
	text_fini(&text);
	return err;
}

int show_files(const struct settings *settings, const struct fold_rules *fold, const struct report *report,
	       struct html *html)
{
	int html_err = settings->html_path ? show_page(settings, fold, report, html) : 0;
	int folded_err = show_one(settings->folded_path, report, folded_put);
	int csv_err = show_one(settings->csv_path, report, csv_put);

	return html_err ? html_err : folded_err ? folded_err : csv_err;
}
