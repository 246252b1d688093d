/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions that are alike, in groups, and those that are like no others; but those that took much longer than most
 * are in a group, however few they are. Which they are depends on the executions alone, not on their order. What is
 * compared is defined in doc/metrics.md.
 */
#pragma once

#include <stdbool.h>
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

struct groups_options {
	unsigned int wanted; /* how many, if there are as many different executions; 0: as many as fit best */
	/* [FIGURES]: those that make executions different, each as much as any other; NULL: all. */
	const bool *by_figure;
};

/* values: FIGURES of each execution, finite and not below 0. The caller frees it with groups_fini(). */
void groups_make(const double *values, size_t count, const struct groups_options *options, struct groups *out);
void groups_fini(struct groups *groups);
