/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "base/table.h"

static void *value_of(uint64_t number)
{
	return (void *)(uintptr_t)(number + 1);
}

TEST(an_empty_table_has_nothing)
{
	struct table *table = table_new();
	size_t cursor = 0;

	CHECK(!table_find(table, 0) && !table_take(table, 0) && !table_count(table));
	CHECK(!table_next(table, &cursor));
	table_free(table);
	table_free(NULL);
}

TEST(key_0_is_a_key_like_any_other)
{
	struct table *table = table_new();

	table_put(table, 0, value_of(7));
	CHECK_EQUAL(table_find(table, 0), value_of(7));
	CHECK_EQUAL(table_count(table), 1);
	CHECK_EQUAL(table_take(table, 0), value_of(7));
	CHECK(!table_find(table, 0));
	table_free(table);
}

TEST(a_second_put_replaces_the_first)
{
	struct table *table = table_new();

	table_put(table, 5, value_of(1));
	table_put(table, 5, value_of(2));
	CHECK_EQUAL(table_count(table), 1);
	CHECK_EQUAL(table_find(table, 5), value_of(2));
	table_free(table);
}

TEST(a_walk_meets_every_entry_once)
{
	struct table *table = table_new();
	uint64_t sum = 0;
	size_t cursor = 0, seen = 0;
	void *value;

	for (uint64_t i = 0; i < 1000; i++)
		table_put(table, i * 64, value_of(i));
	while ((value = table_next(table, &cursor))) {
		sum += (uintptr_t)value - 1;
		seen++;
	}
	CHECK_EQUAL(seen, 1000);
	CHECK_EQUAL(sum, 999 * 1000 / 2);
	table_free(table);
}

/* Against an array, long enough to grow, to wrap round and to move entries back. */
static void check_against_array(uint64_t (*key_of)(uint32_t number))
{
	enum { KEYS = 512 };
	struct table *table = table_new();
	void *expected[KEYS] = { NULL };
	size_t count = 0;
	uint32_t random = 42;

	for (int i = 0; i < 200000; i++) {
		uint32_t number;

		random = random * 1103515245 + 12345;
		number = random >> 10 & (KEYS - 1);
		if (random >> 24 & 1) {
			count += !expected[number];
			expected[number] = value_of(i);
			table_put(table, key_of(number), expected[number]);
		} else {
			CHECK_EQUAL(table_take(table, key_of(number)), expected[number]);
			count -= expected[number] != NULL;
			expected[number] = NULL;
		}
		CHECK_EQUAL(table_count(table), count);
	}
	for (uint32_t number = 0; number < KEYS; number++)
		CHECK_EQUAL(table_find(table, key_of(number)), expected[number]);
	table_free(table);
}

static uint64_t as_address(uint32_t number)
{
	return (uint64_t)number << 32;
}

static uint64_t as_number(uint32_t number)
{
	return number;
}

/* Some are hashed until there are enough others. */
static uint64_t with_gaps(uint32_t number)
{
	return number % 3 ? number : number * 9;
}

TEST(it_agrees_with_an_array_under_random_puts_and_takes)
{
	check_against_array(as_address);
	check_against_array(as_number);
	check_against_array(with_gaps);
}

TEST(a_walk_meets_numbers_and_hashed_keys)
{
	struct table *table = table_new();
	uint64_t sum = 0, expected = 0;
	size_t cursor = 0;
	void *value;

	for (uint64_t i = 0; i < 1000; i++) {
		table_put(table, i, value_of(i));
		table_put(table, i << 40 | 1, value_of(2 * i));
		expected += i + (i ? 2 * i : 0);
	}
	while ((value = table_next(table, &cursor)))
		sum += (uintptr_t)value - 1;
	CHECK_EQUAL(table_count(table), 1999);
	CHECK_EQUAL(sum, expected);
	table_free(table);
}

TEST(a_hash_differs_in_about_half_of_its_bits)
{
	for (int bit = 0; bit < 64; bit++) {
		int changed = __builtin_popcountll(hash_u64(12345) ^ hash_u64(12345 ^ 1ull << bit));

		CHECK_THAT(changed, >, 12);
		CHECK_THAT(changed, <, 52);
	}
}
