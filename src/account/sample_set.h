/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts samples by where they fell. The caller owns the struct, which begins zeroed;
 * sample_set_fini() frees what it holds.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/measures/metrics.h"

struct sample_set {
	struct sample_count *kinds; /* by first appearance; one more fits behind the last */
	size_t kind_count;
	uint32_t *places;   /* hash table of indices into kinds, plus 1; 0: free */
	size_t place_count; /* a power of two, at least twice the space for kinds */
};

void sample_set_fini(struct sample_set *set);

/* False: not added, for it would be more than kinds_max kinds. */
bool sample_set_add(struct sample_set *set, uint64_t ip, uint64_t kernel_ip, uint64_t count, size_t kinds_max);

/* Empties it, its memory kept. */
void sample_set_clear(struct sample_set *set);
