/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The executions of a trace in groups, as pinch compare writes them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "compare/groups.h"
#include "spans/execution.h"
#include "states/state.h"

struct aligned_row;
struct execution_part;

/* Together, of a group with more executions, so many are drawn, evenly chosen. */
enum { GROUP_DRAWN_MAX = 4096 };

/* Executions that are alike. */
struct execution_group {
	uint32_t *members; /* places of executions, by their beginnings */
	size_t count;
	uint64_t ns[SHARES]; /* sums over all of them */
	/* Those that are drawn together, and their parts, as soon as somebody has asked for them; NULL: nobody has. */
	struct aligned_row *drawn;
	struct execution_part *parts;
	size_t drawn_count;
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
