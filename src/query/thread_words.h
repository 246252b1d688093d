/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads of a trace a user means by a number, an id or a name. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct table;
struct trace_reader;

/*
 * Adds the numbers of the threads that each word names, and the ids of their processes, as keys: a number
 * of the trace; if it has none, the id of a thread; if it has none, a name. Reads all of the trace. 0, or
 * -ENOENT after having said which word names none.
 */
int thread_words_find(struct trace_reader *reader, const char *path, const char *const *words, size_t count,
		      struct table *numbers, struct table *pids);
