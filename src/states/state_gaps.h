/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When records were lost. What a thread did is unknown from the beginning of a gap to the first that
 * is recorded of it after the gap's end: a wake-up may be missing, so it must not look like a wait.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct state_gap {
	uint64_t begin_ns, end_ns;
};

struct state_gaps {
	struct state_gap *gaps; /* in time order, apart from each other */
	size_t count, capacity;
};

/* The struct begins zeroed. When there are too many, the last one grows. */
void state_gaps_add(struct state_gaps *gaps, uint64_t begin_ns, uint64_t end_ns);

/* The first gap that ends after time_ns, or NULL. */
const struct state_gap *state_gaps_after(const struct state_gaps *gaps, uint64_t time_ns);

/* Whether there is one with a part in [begin_ns, end_ns). */
bool state_gaps_touch(const struct state_gaps *gaps, uint64_t begin_ns, uint64_t end_ns);
void state_gaps_fini(struct state_gaps *gaps);
