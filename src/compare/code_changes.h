/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions ran more, or less, on the second side of a comparison, as far as samples tell: doc/metrics.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare/side_code.h"

/* Times are of a whole run, of an execution, or of a second, as the comparison's are. */
struct code_difference {
	double ns[2], error_ns[2]; /* of each side, with standard errors */
	double delta_ns, delta_error_ns;
	double chance; /* of so much or more by sampling alone, with that of all that were asked; 1: not asked */
	bool is_significant;
};

struct code_change {
	const char *name; /* borrowed of the sides */
	bool is_own;      /* as in struct side_function */
	uint64_t samples[2];
	struct code_difference self, total;
};

struct code_changes {
	struct code_change
		*list; /* those with a significant difference; by that of self, largest first, then of total */
	size_t count;
	size_t unsure_count; /* functions that differ by more than their standard error, but not for sure */
};

/*
 * scale: of the times of each side. least_ns: below it a difference is none. has_total: of call paths there is only
 * self. The caller ends it with code_changes_fini(); the sides must live as long.
 */
void code_changes_find(const struct side_code sides[2], const double scale[2], double least_ns, bool has_total,
		       struct code_changes *out);
void code_changes_fini(struct code_changes *changes);
