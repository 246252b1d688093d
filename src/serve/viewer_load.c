/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/viewer_load.h"

#include <stddef.h>
#include <stdint.h>

#include "query/trace_states_make.h"
#include "serve/viewed.h"
#include "serve/viewer.h"

static const uint64_t shown_ns_min = 300000000; /* from one picture to the next */

struct loading {
	struct viewer *viewer;
	struct viewed *viewed; /* what there is of it, which is the viewer's; NULL: there is nothing to show yet */
};

static int show_first(struct loading *loading, const char *path, const struct viewer_progress *progress)
{
	struct viewed_options options = viewer_viewed_options(loading->viewer);
	struct viewed *viewed;
	int err = viewed_open_growing(&options, path, &viewed);

	if (err)
		return err;
	if (viewed_has_begun(viewed)) {
		loading->viewed = viewed;
		viewer_show(loading->viewer, viewed, progress);
	} else {
		viewed_close(viewed);
	}
	return 0;
}

static int show(void *data, const char *path)
{
	struct loading *loading = data;
	struct viewer_progress progress = viewer_progress(loading->viewer);

	return loading->viewed ? viewer_grow(loading->viewer, loading->viewed, &progress)
			       : show_first(loading, path, &progress);
}

int viewer_load(struct viewer *viewer, struct states_waiter *waiter, bool shows_parts)
{
	struct viewed_options options = viewer_viewed_options(viewer);
	struct loading loading = { .viewer = viewer };
	struct viewer_progress progress;
	struct viewed *viewed;
	int err;

	waiter->show = shows_parts && !viewer_has_any(viewer) ? show : NULL;
	waiter->show_data = &loading;
	waiter->show_period_ns = shown_ns_min;
	viewer_set_waiter(viewer, waiter);
	err = viewed_open(&options, waiter, &viewed);
	viewer_set_waiter(viewer, NULL);
	waiter->show = NULL;
	if (err)
		return err;
	progress = viewer_progress(viewer);
	progress.phase = VIEW_WHOLE;
	viewer_show(viewer, viewed, &progress);
	return 0;
}
