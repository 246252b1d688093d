/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "show/show.h"

#include <unistd.h>

#include "base/text.h"
#include "options/settings.h"
#include "show/show_files.h"
#include "view/output.h"
#include "view/view.h"

int show_check(const struct settings *settings)
{
	int err = output_check(settings->text_path);

	if (!err && settings->json_path)
		err = output_check(settings->json_path);
	return err ? err : show_files_check(settings);
}

static int show_json(const struct settings *settings, const struct report *report)
{
	struct text text = { 0 };
	int err;

	json_view.show(report, &(struct view_style){ 0 }, &text);
	err = output_write(settings->json_path, &text);
	text_fini(&text);
	return err;
}

static int show_text(const struct settings *settings, const struct fold_rules *fold, const struct report *report)
{
	int fd = settings->is_reporting ? STDOUT_FILENO : STDERR_FILENO;
	struct view_style style = { .has_unicode = true };
	const char *path = settings->text_path;
	struct text text = { 0 };
	int err;

	if (!path)
		style = view_style_for(fd);
	style.fold = fold;
	style.is_verbose = settings->is_verbose;
	style.pages = settings->pages;
	text_view.show(report, &style, &text);
	err = output_write(path || fd == STDERR_FILENO ? path : "-", &text);
	text_fini(&text);
	return err;
}

static bool wants_text(const struct settings *settings)
{
	bool has_terminal = !settings->is_quiet && !settings->has_tui && !settings->is_recording;

	return has_terminal || settings->text_path;
}

bool show_is_asked(const struct settings *settings)
{
	return wants_text(settings) || settings->json_path;
}

int show_report(const struct settings *settings, const struct fold_rules *fold, const struct report *report)
{
	int err = 0, json_err = 0;

	if (settings->json_path)
		json_err = show_json(settings, report);
	if (wants_text(settings))
		err = show_text(settings, fold, report);
	return err ? err : json_err;
}
