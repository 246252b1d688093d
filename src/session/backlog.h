/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that analyses get later: where the CPUs have other work, they are put away as they came, in memory and beyond that in a file
 * without a name. Later is later in the order of events too: analyses get the same events in the same order in any case.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct backlog;
struct pause;
struct session;

struct backlog_limits {
	size_t memory_bytes;
	uint64_t file_bytes;   /* 0: there is no file */
	const char *directory; /* of the file */
};

/*
 * Has the events of one session handed out by another one, whose handlers have all subscribed: those of kinds that somebody wants
 * there. What handlers of the first session that subscribed earlier hand out comes before the event that they had it from.
 */
struct backlog *backlog_new(struct session *from, struct session *to, const struct backlog_limits *limits);
void backlog_free(struct backlog *backlog);

/* From now on events are put away, or handed out at once: then all that were put away are, before. Pause may be NULL. */
void backlog_set_deferring(struct backlog *backlog, bool is_deferring, struct pause *pause);

/*
 * Hands out those that were put away, for about limit_ns; 0: all of them. Those that come afterwards are put away again, if that
 * was so. Not from within an event.
 */
void backlog_catch_up(struct backlog *backlog, uint64_t limit_ns, struct pause *pause);

/* It has held all that it may since it caught up last: time to do so. It goes on to take events. */
bool backlog_is_full(const struct backlog *backlog);

bool backlog_is_empty(const struct backlog *backlog);

struct backlog_counts {
	uint64_t deferred; /* events that were put away, ever */
	uint64_t in_file;  /* of them */
	uint64_t lost;     /* the file could not be read again: a collect.GAP stands for each part of it */
};

struct backlog_counts backlog_counts(const struct backlog *backlog);
