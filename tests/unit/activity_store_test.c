/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "base/memory.h"
#include "lanes/activity_store.h"

enum { COUNT = 4000, QUESTIONS = 300 };

static uint64_t random_state = 7;

static uint64_t pick(uint64_t below)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % below;
}

static void add(struct activity_store *store, uint64_t begin_ns, uint64_t end_ns, uint32_t thread)
{
	activity_store_add(store, &(struct activity){ .name = pick(2) ? "request" : "mail",
						      .begin_ns = begin_ns,
						      .end_ns = end_ns,
						      .thread = thread });
}

/* By their ends, as decoders find them, some of them long. */
static struct activity_store *random_store(void)
{
	struct activity_store *store = activity_store_new();
	uint64_t end_ns = 1000000;

	for (int i = 0; i < COUNT; i++) {
		end_ns += pick(50);
		add(store, end_ns - pick(pick(20) ? 100 : 100000), end_ns, 1 + pick(5));
	}
	return store;
}

TEST(activities_are_in_the_order_of_their_beginnings)
{
	struct activity_store *store = random_store();
	size_t count;
	const struct kept_activity *list = activity_store_list(store, &count);

	CHECK_EQUAL(count, COUNT);
	for (size_t i = 1; i < count; i++)
		CHECK(list[i - 1].begin_ns <= list[i].begin_ns);
	add(store, 5, 6, 1);
	list = activity_store_list(store, &count);
	CHECK_EQUAL(count, COUNT + 1);
	CHECK_EQUAL(list[0].begin_ns, 5);
	activity_store_free(store);
}

TEST(what_is_moved_step_by_step_is_what_was_added)
{
	struct activity_store *all = activity_store_new(), *moved = activity_store_new(), *found = activity_store_new();
	struct activity_parameter parameter = { .name = "n", .type = PARAMETER_INTEGER };
	const struct kept_activity *expected, *list;
	size_t expected_count, count;
	const char *source;

	for (int i = 0; i < COUNT; i++) {
		struct activity activity = { .name = pick(2) ? "request" : "mail",
					     .source = pick(2) ? "x.lua" : NULL,
					     .begin_ns = i,
					     .end_ns = i + pick(100),
					     .parameters = &parameter,
					     .parameter_count = pick(2) };

		parameter.integer = i;
		activity_store_add(all, &activity);
		activity_store_add(found, &activity);
		if (!pick(10))
			activity_store_move(moved, found);
	}
	activity_store_move(moved, found);
	expected = activity_store_list(all, &expected_count);
	list = activity_store_list(moved, &count);
	CHECK_EQUAL(count, expected_count);
	for (size_t i = 0; i < count; i++) {
		CHECK_EQUAL(list[i].begin_ns, expected[i].begin_ns);
		CHECK_EQUAL(list[i].end_ns, expected[i].end_ns);
		assert_string_equal(activity_store_words(moved, &list[i]), activity_store_words(all, &expected[i]));
		assert_string_equal(activity_store_name(moved, list[i].name, &source),
				    activity_store_name(all, expected[i].name, &source));
	}
	activity_store_list(found, &count);
	CHECK_EQUAL(count, 0);
	activity_store_free(all);
	activity_store_free(moved);
	activity_store_free(found);
}

TEST(all_that_have_a_part_in_a_stretch_lie_in_what_is_said_of_it)
{
	struct activity_store *store = random_store();
	size_t count;
	const struct kept_activity *list = activity_store_list(store, &count);

	for (int i = 0; i < QUESTIONS; i++) {
		uint64_t from_ns = 900000 + pick(300000), to_ns = from_ns + pick(20000);
		size_t first, end = activity_store_stretch(store, from_ns, to_ns, &first);

		CHECK(first <= end);
		for (size_t at = 0; at < count; at++) {
			bool is_in = list[at].end_ns >= from_ns && list[at].begin_ns < to_ns;

			CHECK(!is_in || (at >= first && at < end));
		}
		CHECK(first == count || first == end || list[first].end_ns >= from_ns);
	}
	activity_store_free(store);
}

TEST(names_parameters_and_receivers_are_kept_and_long_parameters_cut)
{
	struct activity_store *store = activity_store_new();
	char *text = xcalloc(1, 1001);
	struct activity_parameter parameters[] = {
		{ .name = "size", .type = PARAMETER_INTEGER, .integer = -3 },
		{ .name = "part", .type = PARAMETER_REAL, .real = 0.25 },
		{ .name = "what", .type = PARAMETER_STRING, .string = text },
	};
	const struct kept_activity *list;
	const char *source;
	size_t count;

	memset(text, 'x', 1000);
	activity_store_add(store, &(struct activity){ .name = "mail",
						      .begin_ns = 1,
						      .end_ns = 2,
						      .thread = 3,
						      .end_thread = 4,
						      .is_message = true,
						      .parameters = parameters,
						      .parameter_count = 3 });
	activity_store_add(
		store,
		&(struct activity){
			.source = "a.lua", .name = "mail", .begin_ns = 3, .end_ns = 4, .thread = 3, .end_thread = 3 });
	list = activity_store_list(store, &count);
	CHECK_EQUAL(count, 2);
	CHECK(list[0].is_message && !list[1].is_message);
	CHECK_EQUAL(list[0].end_thread, 4);
	CHECK_EQUAL(list[1].end_thread, 0);
	CHECK_EQUAL(activity_store_name_count(store), 2);
	CHECK_STRING(activity_store_name(store, list[1].name, &source), "mail");
	CHECK_STRING(source, "a.lua");
	activity_store_name(store, list[0].name, &source);
	CHECK(!source);
	CHECK(!strncmp(activity_store_words(store, &list[0]), "size=-3 part=0.25 what=xxx", 26));
	CHECK(strlen(activity_store_words(store, &list[0])) < 300);
	CHECK_STRING(activity_store_words(store, &list[1]), "");
	CHECK_EQUAL(activity_store_left_out(store), 0);
	activity_store_free(store);
	free(text);
}

TEST(activities_with_too_many_names_are_counted)
{
	struct activity_store *store = activity_store_new();
	size_t count;

	for (int i = 0; i < 5000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		activity_store_add(store, &(struct activity){ .name = name, .begin_ns = i, .end_ns = i + 1 });
	}
	activity_store_list(store, &count);
	CHECK_EQUAL(count + activity_store_left_out(store), 5000);
	CHECK_EQUAL(count, activity_store_name_count(store));
	activity_store_free(store);
}
