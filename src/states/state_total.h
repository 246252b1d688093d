/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much of its life a thread spent how, so that nobody has to go through it for that. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "states/state.h"

struct byte_cursor;
struct text;

/* The count of a chunk whose totals are of waits that last, up to a flush: the next such chunk has others in their place. */
enum { STATE_TOTALS_ONGOING = 1 };

/* Begins zeroed. */
struct state_total {
	uint64_t begin_ns; /* of the first state */
	uint64_t until_ns; /* the end of the last one that is in ns */
	bool has_begun;
	uint64_t ns[SHARES];
};

/* Up to now_ns, which does not run backwards, the thread spent its time so; the first time says only when it begins. */
void state_total_add(struct state_total *total, uint64_t now_ns, unsigned int share);

/* As a chunk TRACE_CHUNK_STATE_TOTALS has them, one after the other. */
void state_total_put(const struct state_total *total, uint32_t thread, struct text *out);

/* False: it makes no sense. */
bool state_total_read(struct byte_cursor *cursor, uint32_t *thread, struct state_total *out);
