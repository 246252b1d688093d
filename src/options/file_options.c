/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the forms of a report that go to a file, and of the files that names come from. */
#include "options/settings.h"

static int set_html(struct settings *settings, const char *argument)
{
	settings->html_path = argument;
	return 0;
}

static int set_folded(struct settings *settings, const char *argument)
{
	settings->folded_path = argument;
	return 0;
}

static int set_csv(struct settings *settings, const char *argument)
{
	settings->csv_path = argument;
	return 0;
}

static int set_symbols_from_files(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->opens_files = true;
	return 0;
}

const struct option_spec names_options[] = {
	{ "symbols-from-files", 0, NULL,
	  "for a trace without names: read them from the files that the trace refers to; only for traces that you "
	  "trust",
	  set_symbols_from_files },
	{ 0 },
};

const struct option_spec html_options[] = {
	{ "html", 0, "FILE", "write one page for a browser, with charts; - is standard output", set_html },
	{ 0 },
};

const struct option_spec table_options[] = {
	{ "folded", 0, "FILE", "write call paths with their CMetric in us, for flame graph tools", set_folded },
	{ "csv", 0, "FILE", "write threads, paths, functions, lines, waits, locks and files as one table", set_csv },
	{ 0 },
};
