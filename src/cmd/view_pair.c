/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view_pair.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/view_page.h"
#include "compare/comparison.h"
#include "engine/trace_open.h"
#include "options/settings.h"
#include "scope/address.h"
#include "serve/viewer_load.h"
#include "trace/trace_reader.h"

/* One after the other: while the history of one is made, the page says how far that is. */
static int look(struct view_page *page)
{
	int err = viewer_load(page->viewer, &page->waiter, false);

	if (!err)
		err = viewer_load(page->second, &page->waiter, false);
	if (!err)
		view_page_wait(page);
	return err == -ECANCELED ? 0 : err;
}

static int view_both(const struct settings *settings, char *const names[static SIDES])
{
	struct viewer_options options[SIDES];
	struct view_page page = { 0 };
	int err;

	for (int i = 0; i < SIDES; i++)
		options[i] = (struct viewer_options){
			.path = names[i],
			.name = names[i],
			.other_name = names[!i],
			.opens_files = settings->opens_files,
			.scripts = settings->scripts,
			.script_count = settings->script_count,
		};
	view_page_hold_signals();
	err = view_page_open_pair(&page, options, settings);
	if (!err)
		err = look(&page);
	view_page_close(&page);
	return err;
}

/* Before a browser is opened. */
static int check_file(const char *name)
{
	struct trace_reader *trace;
	bool is_growing;
	int err = trace_open(name, &trace);

	if (err)
		return err;
	is_growing = !trace_reader_extent(trace)->is_ended && trace_reader_is_being_written(trace);
	trace_reader_close(trace);
	return is_growing
		       ? fail_plain(
				 -EBUSY,
				 "%s is still being written: compare it when it is whole, or see it with pinch view %s",
				 name, name)
		       : 0;
}

int view_pair(const struct settings *settings, char *const names[static SIDES])
{
	int err = 0;

	for (int i = 0; i < SIDES; i++)
		if (address_is_stream(names[i]) || !strcmp(names[i], "-")) {
			fail_plain(-EINVAL, "two trace files can be compared, and %s is none: record it first",
				   names[i]);
			return EXIT_USAGE;
		}
	for (int i = 0; i < SIDES && !err; i++)
		err = check_file(names[i]);
	if (!err)
		err = view_both(settings, names);
	return err ? EXIT_FAILED : 0;
}
