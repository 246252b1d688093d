/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "compare/thread_split.h"
#include "spans/execution.h"

enum { COUNT_MAX = 16 };

static bool is_split(const char *threads, const char *group_of, uint32_t *most)
{
	struct execution list[COUNT_MAX] = { { 0 } };
	uint8_t of[COUNT_MAX];
	struct executions executions = { .list = list };
	struct groups groups = { .count = 3, .of = of };

	for (; threads[executions.count]; executions.count++) {
		list[executions.count].thread = threads[executions.count] - '0';
		of[executions.count] = group_of[executions.count] - '0';
	}
	return thread_split_find(&executions, &groups, 0, 2, most);
}

TEST(groups_of_other_threads_are_split_and_the_busiest_thread_is_known)
{
	uint32_t most = 0;

	CHECK(is_split("1112233", "0002222", &most));
	CHECK_EQUAL(most, 1);
}

TEST(groups_that_share_a_thread_are_not_split)
{
	uint32_t most;

	CHECK(!is_split("1112221", "0002222", &most));
}

TEST(a_thread_for_each_execution_is_no_split)
{
	uint32_t most;

	CHECK(!is_split("123456", "000222", &most));
}

TEST(executions_of_other_groups_do_not_count)
{
	uint32_t most;

	CHECK(is_split("11122221", "00022221", &most));
	CHECK_EQUAL(most, 2);
}
