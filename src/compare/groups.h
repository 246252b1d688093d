/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions that are alike, in groups, and those that are like no others. Which they are depends on the
 * executions alone, not on their order. What is compared is defined in doc/metrics.md.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "compare/figures.h"

enum { GROUPS_MIN = 2, GROUPS_MAX = 6, GROUP_OUTLIER = UINT8_MAX };

/* So few are not grouped. */
enum { GROUPED_MIN = 4 };

struct groups {
	unsigned int count; /* 1: they are all alike, or too few */
	uint8_t *of;        /* by execution: its group, the fastest first, or GROUP_OUTLIER */
	size_t sizes[GROUPS_MAX];
	size_t outlier_count;
	double silhouette; /* 0 of a single group */
};

/*
 * values: FIGURES of each execution, finite and not below 0. wanted: how many groups, if there are as many
 * different executions; 0: as many as fit best. The caller frees it with groups_fini().
 */
void groups_make(const double *values, size_t count, unsigned int wanted, struct groups *out);
void groups_fini(struct groups *groups);
