/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executions of a group as one lane. Of a group with more than DRAWN_ROWS_MAX so many are drawn, evenly chosen. Finding their states
 * takes seconds where they lie all over a large trace: it is done step by step, and they are kept.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* DRAWN_SLICES_MAX: so many states are kept; of executions that have more they are looked up for each tile. */
enum { DRAWN_ROWS_MAX = 4096, DRAWN_SLICES_MAX = 1 << 19 };

struct aligned_row;
struct drawn_together;
struct execution_group;
struct execution_grouping;
struct viewed;

/* Goes on until a time, CLOCK_MONOTONIC in ns. How much of it is done: from 0 to 1, which is all. */
double drawn_together_step(const struct execution_grouping *grouping, struct execution_group *group,
			   const struct viewed *viewed, uint64_t until_ns);

/* All of them, which takes as long as it takes; they live as long as the grouping. */
const struct aligned_row *drawn_together_rows(const struct execution_grouping *grouping, struct execution_group *group,
					      const struct viewed *viewed, size_t *count);

/* Of all groups; before execution_grouping_fini(). */
void drawn_together_free(struct execution_grouping *grouping);
