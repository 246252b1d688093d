/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of traced programs' own: finds the areas that processes with libpinchtrace make, reads their rings, and has what is in them
 * in the session's stream, in the order of time of all its events. A process says itself when it has made an area (user.ANNOUNCED);
 * one that lives already when tracing begins is looked at, and its events count from then on.
 *
 * Owns: reading programs' own events while they run.
 * Used by: collect, live.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct own_areas;
struct session;
struct symbols;
struct text;
struct threads;

/* Borrows all three. Events go to that stream of the session. */
struct own_areas *own_areas_new(struct session *session, unsigned int stream, struct symbols *symbols,
				const struct threads *threads);
void own_areas_free(struct own_areas *areas);

/* The kernel side says that the process has made one: it is looked at with the next own_areas_take(). */
void own_areas_announced(struct own_areas *areas, uint32_t pid);

/*
 * Pushes what has been recorded up to limit_ns (CLOCK_MONOTONIC), and not yet been read. Returns until when all of it is there: the
 * moment of the call, or less, for a while, if a thread is writing an event. Schemas are handed out at once.
 */
uint64_t own_areas_take(struct own_areas *areas, uint64_t limit_ns);

/* Nothing more is taken: pushes what waited for something that might have been before it. */
void own_areas_finish(struct own_areas *areas);

/* When they are to be taken again, before a ring runs over: by how fast rings filled of late. UINT64_MAX: there are none. */
uint64_t own_areas_due_ns(const struct own_areas *areas);

/* Starts recording in a process, as if its start event had come: with its next event. 0; -ENOENT: it has no area; or -errno. */
int own_areas_start(struct own_areas *areas, uint32_t pid);

/*
 * Tells all processes that somebody receives their events until that moment (CLOCK_MONOTONIC): what they flush stays there for him.
 * 0: nobody any more. Those that cannot be told write what they flush as they do without.
 */
void own_areas_promise(struct own_areas *areas, uint64_t until_ns);

/* Sentences about what could not be read, a NUL after each. */
void own_areas_put_notes(const struct own_areas *areas, struct text *notes);
