/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Activities of programs' own events that come in pairs, by their names: X_BEGIN and X_END, X_LOCK and X_UNLOCK, X_START and X_STOP,
 * X_ENTER and X_EXIT in one thread; X_SEND and X_RECEIVE in any threads, for messages.
 *
 * The end of a pair belongs to the last beginning in its thread that has its argument. If arguments of this pair have never been equal,
 * they say something else: it belongs to the last beginning, then. A message is received by the argument it was sent with, in the order
 * of sending where several have the same.
 */
#pragma once

#include <stdint.h>

#include "activity/activity.h"

struct named_event;
struct pairs;

struct pairs *pairs_new(struct activity_sink sink);
void pairs_free(struct pairs *pairs);

/* An event of a program's own, in the order of time. */
void pairs_on_event(struct pairs *pairs, const struct named_event *event);

/*
 * Of one kind of pairs: beginnings without an end that are older than twice the longest pair, and since which ENDED_SINCE_MIN pairs
 * have ended.
 */
enum { ENDED_SINCE_MIN = 100 };

struct unended {
	const char *name;  /* borrowed */
	uint64_t count;    /* of these */
	uint64_t ended;    /* pairs */
	uint64_t first_ns; /* when the first of these was */
	uint32_t thread;   /* whose it is */
};

/* Calls on_each for each kind that has such beginnings. */
void pairs_each_unended(const struct pairs *pairs, void (*on_each)(void *data, const struct unended *unended),
			void *data);

/* Beginnings that were forgotten because too many had no end. */
uint64_t pairs_dropped(const struct pairs *pairs);
