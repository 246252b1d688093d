/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdio.h>
#include <string.h>

#include "account/run_samples.h"
#include "session/threads.h"

static struct thread thread_of(uint32_t pid, uint32_t exec_count, const char *name)
{
	struct thread thread = { .number = pid, .tid = pid, .pid = pid, .exec_count = exec_count };

	snprintf(thread.name, sizeof(thread.name), "%s", name);
	return thread;
}

static void add(struct run_samples *samples, const struct thread *thread, uint64_t time_ns, uint64_t ip,
		uint64_t kernel_ip, uint32_t active)
{
	struct ev_sched_sample e = { .ip = ip, .kernel_ip = kernel_ip };

	run_samples_add(samples, thread, time_ns, &e, &(struct ev_sched_sample){ 0 }, active);
}

TEST(a_place_is_an_address_of_an_address_space_and_of_the_kernel)
{
	struct run_samples *samples = run_samples_new();
	struct thread first = thread_of(1, 0, "a"), second = thread_of(2, 0, "a"), after_exec = thread_of(1, 1, "a");

	add(samples, &first, 10, 0x1000, 0, 1);
	add(samples, &first, 20, 0x1000, 0, 2);
	add(samples, &second, 30, 0x1000, 0, 2);
	add(samples, &after_exec, 40, 0x1000, 0, 2);
	add(samples, &first, 50, 0x1000, 0xffffffff81000000, 2);
	CHECK_EQUAL(run_samples_count(samples), 5);
	CHECK_EQUAL(run_samples_place(samples, 0)->count, 2);
	CHECK_EQUAL(run_samples_place(samples, 0)->first_ns, 10);
	CHECK_EQUAL(run_samples_place(samples, 1)->pid, 2);
	CHECK_EQUAL(run_samples_place(samples, 1)->count, 1);
	CHECK_EQUAL(run_samples_place(samples, 2)->first_ns, 40);
	CHECK_EQUAL(run_samples_place(samples, 3)->kernel_ip, 0xffffffff81000000);
	CHECK(!run_samples_place(samples, 4));
	run_samples_free(samples);
}

TEST(samples_are_counted_by_how_many_threads_were_active)
{
	struct run_samples *samples = run_samples_new();
	struct thread thread = thread_of(1, 0, "a");
	const struct run_level *level;
	uint64_t count = 0;

	for (uint32_t n = 1; n <= 300; n++)
		for (uint32_t i = 0; i < n % 5; i++)
			add(samples, &thread, 10, 0x1000, 0, n);
	add(samples, &thread, 10, 0x1000, 0, UINT32_MAX);
	CHECK_EQUAL(run_samples_count_at(samples, 299), 4);
	CHECK(!run_samples_count_at(samples, 300));
	CHECK(!run_samples_count_at(samples, UINT32_MAX));
	for (level = run_samples_place(samples, 0)->levels; level; level = level->next) {
		CHECK_EQUAL(level->count, run_samples_count_at(samples, level->active));
		count += level->count;
	}
	CHECK_EQUAL(count, run_samples_count(samples));
	run_samples_free(samples);
}

TEST(a_place_remembers_distinct_names_of_a_few_threads)
{
	static const char *const names[] = { "a", "b", "a", "c", "b", "d", "e" };
	struct run_samples *samples = run_samples_new();

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct thread thread = thread_of(1, 0, names[i]);

		add(samples, &thread, 10, 0x1000, 0, 1);
	}
	CHECK_EQUAL(run_samples_place(samples, 0)->name_count, RUN_NAMES_MAX);
	CHECK_STRING(run_samples_place(samples, 0)->names[0], "a");
	CHECK_STRING(run_samples_place(samples, 0)->names[3], "d");
	run_samples_free(samples);
}

TEST(places_are_bounded_and_samples_are_counted_beyond)
{
	struct run_samples *samples = run_samples_new();
	struct thread thread = thread_of(1, 0, "a");
	size_t count = 0;

	for (uint64_t i = 0; i < 100000; i++)
		add(samples, &thread, 10, 0x1000 + i, 0, 1 + i % 3);
	while (run_samples_place(samples, count))
		count++;
	CHECK_EQUAL(count, 32768);
	CHECK_EQUAL(run_samples_count(samples), 100000);
	run_samples_free(samples);
}
