/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The executions of a trace in groups, as pinch compare writes them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "compare/groups.h"
#include "spans/execution.h"
#include "states/state.h"

struct drawn_together;

/* Executions that are alike. */
struct execution_group {
	uint32_t *members; /* places of executions, by their beginnings */
	size_t count;
	uint64_t ns[SHARES];          /* sums over all of them */
	struct drawn_together *drawn; /* drawn_together.h; NULL: nobody has asked for it */
};

struct execution_grouping {
	struct executions executions; /* begin_ns and end_ns: since the first event of the trace, modulo 2^64 */
	uint8_t *group_of;            /* of each execution: from 1 on, the fastest first; 0: an outlier */
	struct execution_group groups[GROUPS_MAX + 1]; /* by that number */
	unsigned int count;                            /* of groups, without that of the outliers */
};

/* Reads what pinch compare --executions writes. 0; -EBADMSG: it is something else. To be freed with execution_grouping_fini() in any case. */
int execution_grouping_read(const char *csv, struct execution_grouping *out);
void execution_grouping_fini(struct execution_grouping *grouping);

/* An execution by its place, in the time of the trace, which begins at first_ns, CLOCK_MONOTONIC. */
struct execution execution_grouping_at(const struct execution_grouping *grouping, uint32_t place, uint64_t first_ns);
