/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/drawn_together.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "lanes/aligned_tile.h"
#include "query/trace_states.h"
#include "serve/execution_grouping.h"
#include "serve/viewed.h"

struct drawn_together {
	struct aligned_row rows[DRAWN_ROWS_MAX];
	size_t count;
	size_t next;                  /* the member that comes next */
	struct execution_parts parts; /* of rows whose states are not kept */
	struct aligned_slices slices; /* of the others */
	bool is_complete;             /* rows know where theirs are */
};

/* Of so many members one is drawn. */
static size_t step_of(const struct execution_group *group)
{
	return 1 + (group->count - (group->count != 0)) / DRAWN_ROWS_MAX;
}

static void add_row(const struct execution_grouping *grouping, const struct execution_group *group,
		    const struct viewed *viewed)
{
	struct drawn_together *drawn = group->drawn;
	struct aligned_row *row = &drawn->rows[drawn->count++];
	size_t before = drawn->parts.count;
	struct execution execution =
		execution_grouping_at(grouping, group->members[drawn->next], trace_states_time(&viewed->all, 0));

	execution_parts_add(viewed->all.states, &execution, drawn->next, &drawn->parts);
	*row = (struct aligned_row){
		.begin_ns = execution.begin_ns,
		.parts = drawn->parts.list + before,
		.part_count = drawn->parts.count - before,
	};
	if (aligned_slices_add(viewed->all.states, row, DRAWN_SLICES_MAX, &drawn->slices, &row->slice_count) &&
	    row->slice_count) {
		drawn->parts.count = before;
		row->part_count = 0;
	}
	drawn->next += step_of(group);
}

/* The arrays have grown up to here. */
static void complete(struct drawn_together *drawn)
{
	const struct execution_part *parts = drawn->parts.list;
	const struct aligned_slice *slices = drawn->slices.list;

	for (size_t i = 0; i < drawn->count; i++) {
		struct aligned_row *row = &drawn->rows[i];

		row->parts = parts;
		row->slices = row->slice_count ? slices : NULL;
		parts += row->part_count;
		slices += row->slice_count;
	}
	drawn->is_complete = true;
}

double drawn_together_step(const struct execution_grouping *grouping, struct execution_group *group,
			   const struct viewed *viewed, uint64_t until_ns)
{
	if (!group->drawn)
		group->drawn = xcalloc(1, sizeof(*group->drawn));
	while (group->drawn->next < group->count) {
		if (clock_ns() >= until_ns)
			return (double)group->drawn->next / group->count;
		add_row(grouping, group, viewed);
	}
	if (!group->drawn->is_complete)
		complete(group->drawn);
	return 1;
}

const struct aligned_row *drawn_together_rows(const struct execution_grouping *grouping, struct execution_group *group,
					      const struct viewed *viewed, size_t *count)
{
	drawn_together_step(grouping, group, viewed, UINT64_MAX);
	*count = group->drawn->count;
	return group->drawn->rows;
}

void drawn_together_free(struct execution_grouping *grouping)
{
	for (unsigned int i = 0; i <= GROUPS_MAX; i++) {
		struct drawn_together *drawn = grouping->groups[i].drawn;

		if (!drawn)
			continue;
		free(drawn->parts.list);
		free(drawn->slices.list);
		free(drawn);
		grouping->groups[i].drawn = NULL;
	}
}
