/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the second side of a comparison spends more time than the first one, or less: in which waits, and
 * for whom. What follows from another reported reason is not repeated.
 */
#pragma once

#include <stddef.h>

#include "compare/comparison.h"

struct text;

struct reason {
	size_t node;          /* of the comparison's set */
	struct difference ns; /* its chance: with that of all that were asked */
};

struct reasons {
	struct reason *list; /* by how much it is, most first */
	size_t count;
	size_t unsure_count; /* not in the list: such differences come by chance, too */
};

/* The caller frees it with reasons_fini(). */
void reasons_find(const struct comparison *comparison, struct reasons *out);
void reasons_fini(struct reasons *reasons);

/* "slow executions spend 33 ms more in file fcntl, waiting for other apache2 threads". Labels are escaped. */
void reason_put(struct text *out, const struct comparison *comparison, const struct reason *reason);
