/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CMetric by groups of threads, over several runs: how stages of a program share the load with different numbers of
 * threads (GAPP, figures 4 to 6). Exact, as in the reports of the runs, which must live as long.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report;

/* A group in one run; all 0: it is not there. */
struct configuration_part {
	uint64_t thread_count, cmetric_ns;
	uint64_t most_ns; /* CMetric of one of its threads; ended ones that share a row count together */
};

struct configuration_group {
	const char *name;
	struct configuration_part *parts; /* of each run */
	uint64_t most_threads, most_ns;   /* over all runs */
	size_t order;
};

struct configurations {
	const struct report *const *reports; /* [count]; borrowed */
	size_t count;
	struct configuration_group *groups; /* largest CMetric in any run first */
	size_t group_count;
};

/* The caller ends it with configurations_fini(). */
void configurations_find(const struct report *const *reports, size_t count, struct configurations *out);
void configurations_fini(struct configurations *configurations);
