/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which blocks a thread changes its state: how the end of a long state is found. */
#pragma once

#include <stdint.h>

#include "base/text.h"

struct state_places {
	struct text bytes; /* varints: the first block, then the distances */
	uint32_t count, last;
};

/* The struct begins zeroed. block is above the one added before. */
void state_places_add(struct state_places *places, uint32_t block);

/* Puts them as a chunk TRACE_CHUNK_STATE_PLACES has them: a thread's, one after the other. */
void state_places_put(const struct state_places *places, uint32_t thread, struct text *out);
void state_places_fini(struct state_places *places);
