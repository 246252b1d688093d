/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The pyramid of a history's shares: how much of each cell of time a thread spent how. Reads it as it is asked, and keeps
 * some of it; the file is borrowed.
 */
#pragma once

#include <stdint.h>

#include "states/state.h"

struct share_index;
struct trace_reader;

enum share_recorded {
	SHARE_NOT_KEPT, /* its states have to be gone through */
	SHARE_ADDED,
	SHARE_IS_ONE, /* nothing changed in it: what the thread did at its beginning, it did all the time */
};

struct share_index *share_index_new(struct trace_reader *file);

/* The file has grown: takes what came since. */
void share_index_grow(struct share_index *index);
void share_index_free(struct share_index *index);

/* Adds a cell of a level, ns. */
enum share_recorded share_index_add(struct share_index *index, unsigned int level, uint64_t cell, uint32_t thread,
				    uint64_t ns[SHARES]);
