/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace as if only some of its threads had been traced: what concerns none of them is left out, and in
 * what does the others become threads that are not traced.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "events.h"

struct cut_threads;
struct prologue;
struct prologue_out;
struct trace_reader;

/*
 * The threads that these words name: a number of the trace, or else an id of the system, or else a name.
 * Reads all of the trace. 0, or a negative errno after having said which word names none.
 */
int cut_threads_new(struct trace_reader *reader, const char *path, const char *const *words, size_t count,
		    struct cut_threads **out);
void cut_threads_free(struct cut_threads *threads);

/* Whether the thread or the mapping of the event belongs to them. */
bool cut_threads_have(const struct cut_threads *threads, const struct ev_header *header);

/*
 * The event as it is to be written, valid until the next call; NULL: it is left out. What it says of the
 * others, and was not written yet, is written before.
 */
const struct ev_header *cut_threads_change(struct cut_threads *threads, const struct prologue *prologue,
					   const struct ev_header *header, const struct prologue_out *out);

/* Whether a process of theirs begins as a copy of one that is left out. */
bool cut_threads_is_orphan(const struct cut_threads *threads, const struct ev_header *header);
