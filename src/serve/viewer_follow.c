/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/viewer_follow.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "query/bounded_history.h"
#include "query/growing_states.h"
#include "query/trace_states_make.h"
#include "serve/viewed.h"
#include "serve/viewer.h"

static const uint64_t step_ns = 250000000;      /* of work, before what is known by then is shown */
static const uint64_t shown_ns_min = 300000000; /* from one picture to the next */
static const long idle_ns = 50000000;           /* when nothing comes */
enum { SHARE_OF_SHOWING = 10 };                 /* showing takes at most one of so many parts of the time */

struct following {
	struct viewer *viewer;
	const struct viewer_writer *writer;
	struct states_waiter *waiter;
	struct bounded_history *history;
	struct viewed *viewed; /* the viewer owns it; NULL: there is nothing to show yet */
	uint64_t due_ns;       /* when it may be shown again */
};

static int wait_a_moment(struct following *following)
{
	nanosleep(&(struct timespec){ .tv_nsec = idle_ns }, NULL);
	pause_take_if_due(&following->waiter->pause);
	return following->waiter->is_cancelled ? -ECANCELED : 0;
}

/* As soon as there is a file with a beginning. */
static int open_trace(struct following *following, const char *path)
{
	int err = 0;

	for (;;) {
		bool is_writing = following->writer->is_writing(following->writer->data);

		err = bounded_history_open(path, following->writer->budget_bytes, &following->history);
		if (!err || !is_writing || (err != -EBADMSG && err != -ENOENT))
			return err;
		err = wait_a_moment(following);
		if (err)
			return err;
	}
}

static struct viewer_progress progress_of(const struct following *following)
{
	struct viewer_progress progress = viewer_progress(following->viewer);

	progress.phase = VIEW_RECORDING;
	progress.was_followed = true;
	progress.trace_bytes = growing_states_trace_bytes(bounded_history_used(following->history));
	progress.budget_bytes = following->writer->budget_bytes;
	progress.index_bytes = bounded_history_bytes(following->history);
	return progress;
}

/* What can be seen of a history that was flushed. *out: NULL: nothing yet; else the viewer's, if it is shown. 0 or a negative errno. */
static int open_viewed(struct following *following, const struct growing_states *growing, struct viewed **out)
{
	struct viewed_options options = viewer_viewed_options(following->viewer);
	struct viewed *viewed;
	int err = viewed_open_growing(&options, growing_states_path(growing), &viewed);

	*out = NULL;
	if (err)
		return err;
	if (viewed_has_begun(viewed))
		*out = viewed;
	else
		viewed_close(viewed);
	return 0;
}

static void show_viewed(struct following *following, struct viewed *viewed)
{
	struct viewer_progress progress = progress_of(following);

	following->viewed = viewed;
	viewer_show(following->viewer, viewed, &progress);
}

static int show_first(struct following *following)
{
	struct viewed *viewed;
	int err = open_viewed(following, bounded_history_used(following->history), &viewed);

	if (!err && viewed)
		show_viewed(following, viewed);
	return err;
}

static int show(struct following *following)
{
	uint64_t begin_ns = clock_ns(), spent_ns;
	struct viewer_progress progress;
	int got;

	got = growing_states_flush(bounded_history_used(following->history));
	if (got <= 0)
		return got;
	if (!following->viewed) {
		got = show_first(following);
	} else {
		progress = progress_of(following);
		got = viewer_grow(following->viewer, following->viewed, &progress);
	}
	spent_ns = clock_ns() - begin_ns;
	following->due_ns =
		begin_ns + (SHARE_OF_SHOWING * spent_ns > shown_ns_min ? SHARE_OF_SHOWING * spent_ns : shown_ns_min);
	return got;
}

/*
 * The history of what the ring still has takes the place of the one that is shown, if it is there. The viewer closes what was shown when
 * nobody looks at it any more, and only then the file behind that is closed.
 */
static int replace(struct following *following)
{
	struct growing_states *next = bounded_history_next(following->history);
	struct viewed *viewed;
	int got;

	if (!next)
		return 0;
	got = growing_states_flush(next);
	if (got > 0)
		got = open_viewed(following, next, &viewed);
	else
		viewed = NULL; /* it was looked at, and has nothing more to show */
	if (got || !viewed)
		return got;
	show_viewed(following, viewed);
	bounded_history_replace(following->history);
	return 0;
}

static int follow(struct following *following)
{
	for (;;) {
		bool is_writing = following->writer->is_writing(following->writer->data);
		int got = bounded_history_step(following->history, step_ns, following->waiter);
		bool is_ended = growing_states_is_ended(bounded_history_used(following->history));
		bool is_over = !got && (is_ended || !is_writing);
		int err = got < 0 ? got : replace(following);

		if (err)
			return err;
		if (is_over || clock_ns() >= following->due_ns) {
			err = show(following);
			if (err || is_over)
				return err;
		}
		if (!got && wait_a_moment(following))
			return -ECANCELED;
	}
}

int viewer_follow(struct viewer *viewer, const struct viewer_writer *writer, struct states_waiter *waiter)
{
	struct following following = { .viewer = viewer, .writer = writer, .waiter = waiter };
	struct viewer_progress progress = viewer_progress(viewer);
	int err;

	progress.phase = VIEW_RECORDING;
	viewer_show(viewer, NULL, &progress);
	err = open_trace(&following, viewer_viewed_options(viewer).trace_path);
	if (!err)
		err = follow(&following);
	bounded_history_close(following.history);
	if (!err) {
		progress = viewer_progress(viewer);
		progress.phase = VIEW_INDEXING;
		viewer_show(viewer, NULL, &progress);
	}
	return err;
}

void viewer_note_exit(struct viewer *viewer, int exit_status)
{
	struct viewer_progress progress = viewer_progress(viewer);

	progress.exit_status = exit_status;
	viewer_show(viewer, NULL, &progress);
}

void viewer_stop(struct viewer *viewer, const char *message)
{
	struct viewer_progress progress = viewer_progress(viewer);

	progress.phase = VIEW_STOPPED;
	snprintf(progress.message, sizeof(progress.message), "%s", message);
	viewer_show(viewer, NULL, &progress);
}
