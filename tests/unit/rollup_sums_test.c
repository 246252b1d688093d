/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums of states that are added up again: nothing is lost when there are too many, and order does not matter. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/rollup_sums.h"
#include "test.h"

enum { OBJECTS = 20000, STATES = 3, ROUNDS = 3 };

static const char *const states[STATES] = { "lock", "file", "running" };

static void add(struct rollup_sums *sums, unsigned int state, unsigned int object, uint64_t ns)
{
	char name[16];

	snprintf(name, sizeof(name), "o%u", object);
	rollup_sums_add(sums, &(struct rollup_key){ "", "p", "t", states[state], name, "f < main" }, ns, ns / 2);
}

TEST(all_of_a_state_is_there_when_rows_are_too_many)
{
	struct rollup_sums *sums = rollup_sums_new();
	uint64_t ns[STATES] = { 0 }, told[STATES] = { 0 }, counts[STATES] = { 0 };
	const struct rollup_row *const *rows;
	size_t count;

	for (unsigned int i = 0; i < OBJECTS; i++)
		for (unsigned int state = 0; state < STATES; state++) {
			add(sums, state, i, i + 1);
			ns[state] += i + 1;
		}
	rows = rollup_sums_rows(sums, &count);
	CHECK_EQUAL(count, 16384 + STATES);
	for (size_t i = 0; i < count; i++)
		for (unsigned int state = 0; state < STATES; state++)
			if (!strcmp(rows[i]->key.state, states[state])) {
				told[state] += rows[i]->ns;
				counts[state] += rows[i]->count;
			}
	for (unsigned int state = 0; state < STATES; state++) {
		CHECK_EQUAL(told[state], ns[state]);
		CHECK_EQUAL(counts[state], OBJECTS);
	}
	rollup_sums_free(sums);
}

TEST(rows_say_how_long_how_often_and_come_by_time)
{
	struct rollup_sums *sums = rollup_sums_new();
	const struct rollup_row *const *rows;
	size_t count;

	for (unsigned int round = 0; round < ROUNDS; round++) {
		add(sums, 0, 1, 1000);
		add(sums, 1, 1, 5000 + round);
	}
	rows = rollup_sums_rows(sums, &count);
	CHECK_EQUAL(count, 2);
	CHECK_STRING(rows[0]->key.state, "file");
	CHECK_EQUAL(rows[0]->ns, 15003);
	CHECK_EQUAL(rows[0]->max_ns, 5002);
	CHECK_EQUAL(rows[1]->count, ROUNDS);
	CHECK_EQUAL(rows[1]->cmetric_ns, 1500);
	CHECK_EQUAL(rows[1]->lengths[length_index(1000)], ROUNDS);
	rollup_sums_free(sums);
}

TEST(no_rows)
{
	struct rollup_sums *sums = rollup_sums_new();
	size_t count;

	rollup_sums_rows(sums, &count);
	CHECK_EQUAL(count, 0);
	rollup_sums_free(sums);
}
