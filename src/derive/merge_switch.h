/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A switch from a thread that one pinch traces to one that another one traces is a record of both, a
 * moment apart: from the thread to somebody, and from somebody to the thread.
 */
#pragma once

#include <stddef.h>

#include "derive/merge_source.h"
#include "events.h"

struct merge_threads;

enum { MERGE_SOURCES_MAX = 64 };

/*
 * What one pinch would have recorded. event was just taken out of the source; records of the same switch in
 * the others are marked as joined. False: nothing, since the one that is listened to tells it.
 */
bool merge_switch(struct merge_source *sources, size_t count, struct merge_threads *threads,
		  struct merge_source *source, const struct merge_event *event, struct ev_sched_switch *out);
