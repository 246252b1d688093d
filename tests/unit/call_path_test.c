/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "account/call_path.h"
#include "session/threads.h"

enum { PATHS_MAX = 400 };

static const uint64_t second_ns = 1000000000;

static fixed_ns as_fixed(uint64_t ns)
{
	return (fixed_ns)ns << 32;
}

/* A slice of a process that began at born_ns, in a stack of its own. */
static void add_slice(struct call_paths *paths, struct thread *thread, uint32_t pid, uint64_t born_ns, uint64_t now_ns)
{
	*thread = (struct thread){ .number = pid, .tid = pid, .pid = pid, .born_ns = born_ns };
	call_path_add_slice(paths, call_paths_get(paths, thread, 1000 + pid, now_ns), thread, as_fixed(10), 0);
}

/* The CMetric of all rows, and how many of them are of a process. */
static double sum_of(struct call_paths *paths, size_t *rows)
{
	const struct path_metrics *path;
	size_t cursor = 0;
	double sum = 0;

	for (*rows = 0; (path = call_paths_next(paths, NULL, &cursor)); *rows += path->pid != 0)
		sum += path->cmetric_ns;
	return sum;
}

TEST(processes_that_come_and_go_leave_space_for_those_that_last)
{
	static struct thread young[1000], old[1000];
	struct call_paths *paths = call_paths_new(PATHS_MAX);
	size_t rows;

	for (uint32_t i = 0; i < 1000; i++)
		add_slice(paths, &young[i], 1 + i, second_ns * (i + 1), second_ns * (i + 1) + 1000);
	CHECK_EQUAL(sum_of(paths, &rows), 10000);
	CHECK_EQUAL(rows, PATHS_MAX / 4);
	for (uint32_t i = 0; i < 1000; i++)
		add_slice(paths, &old[i], 10001 + i, second_ns, 3000 * second_ns);
	/* The row of all others is one of them. */
	CHECK_EQUAL(sum_of(paths, &rows), 20000);
	CHECK_EQUAL(rows, PATHS_MAX - 1);
	call_paths_free(paths);
}

TEST(a_thread_of_a_process_that_lasts_is_not_young)
{
	static struct thread threads[300];
	struct call_paths *paths = call_paths_new(PATHS_MAX);
	size_t rows;

	for (uint32_t i = 0; i < 300; i++) {
		threads[i] = (struct thread){ .number = i, .tid = 100 + i, .pid = 7, .born_ns = second_ns };
		call_path_add_slice(paths, call_paths_get(paths, &threads[i], 1 + i, second_ns + 1), &threads[i],
				    as_fixed(10), 0);
	}
	CHECK_EQUAL(sum_of(paths, &rows), 3000);
	CHECK_EQUAL(rows, 300);
	call_paths_free(paths);
}
