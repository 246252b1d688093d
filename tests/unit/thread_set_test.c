/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Threads are counted once each, beside a table that has no bound. */
#include "test.h"

#include <stdlib.h>

#include "base/memory.h"
#include "waits/sums/thread_set.h"

enum { PLAYS = 200, ADDED_MAX = 3000, NUMBERS_MAX = 2000 };

static void add(struct thread_set *set, uint32_t number)
{
	size_t size_bytes = thread_set_bytes_wanted(set);
	void *old = set->numbers;

	if (!thread_set_wants(set, number))
		return;
	if (size_bytes) {
		thread_set_move(set, xcalloc(1, size_bytes), size_bytes);
		free(old);
	}
	thread_set_add(set, number);
}

TEST(each_thread_is_there_once_up_to_the_bound)
{
	srand(7);
	for (int play = 0; play < PLAYS; play++) {
		struct thread_set set = { 0 };
		bool is_there[NUMBERS_MAX] = { false };
		uint32_t count = 0, range = 1 + rand() % NUMBERS_MAX;

		for (int i = rand() % ADDED_MAX; i > 0; i--) {
			uint32_t number = rand() % range;

			if (!is_there[number] && count < THREAD_SET_MAX) {
				is_there[number] = true;
				count++;
			}
			add(&set, number);
			CHECK(set.count <= set.capacity);
		}
		CHECK_EQUAL(set.count, count);
		for (uint32_t i = 0; i < set.count; i++)
			CHECK(is_there[set.numbers[i]] && (!i || set.numbers[i - 1] < set.numbers[i]));
		free(set.numbers);
	}
}
