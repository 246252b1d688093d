/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdbool.h>

#include "symbol/space/space.h"

enum { BOUND = 100000 };

static void map(struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t end, uint32_t module)
{
	struct mapping mapping = { .start = start, .end = end, .module = module };

	spaces_map(spaces, pid, time_ns, &mapping);
}

static void found(struct spaces *spaces, uint32_t pid, uint64_t now_ns, uint64_t start, uint64_t end, uint32_t module)
{
	struct mapping mapping = { .start = start, .end = end, .module = module };

	spaces_found(spaces, pid, now_ns, &mapping);
}

/* The module at an address, 0 when nothing is mapped there. */
static uint32_t at(const struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	struct space_hit hit;

	return spaces_find(spaces, pid, time_ns, address, &hit) && hit.is_mapped ? hit.mapping.module : 0;
}

TEST(a_mapping_counts_from_its_time_on_and_within_its_range)
{
	struct spaces *spaces = spaces_new(BOUND);

	map(spaces, 7, 100, 0x1000, 0x2000, 1);
	map(spaces, 7, 200, 0x3000, 0x4000, 2);
	CHECK_EQUAL(at(spaces, 7, 100, 0x1000), 1);
	CHECK_EQUAL(at(spaces, 7, 300, 0x1fff), 1);
	CHECK_EQUAL(at(spaces, 7, 300, 0xfff), 0);
	CHECK_EQUAL(at(spaces, 7, 300, 0x2000), 0);
	CHECK_EQUAL(at(spaces, 7, 150, 0x3000), 0);
	CHECK_EQUAL(at(spaces, 7, 200, 0x3000), 2);
	CHECK_EQUAL(at(spaces, 8, 200, 0x3000), 0);
	spaces_free(spaces);
}

TEST(a_later_mapping_replaces_what_it_overlaps_and_no_more)
{
	struct spaces *spaces = spaces_new(BOUND);

	map(spaces, 7, 100, 0x1000, 0x9000, 1);
	map(spaces, 7, 200, 0x3000, 0x5000, 2);
	map(spaces, 7, 300, 0x4000, 0xa000, 3);
	CHECK_EQUAL(at(spaces, 7, 150, 0x4800), 1);
	CHECK_EQUAL(at(spaces, 7, 250, 0x4800), 2);
	CHECK_EQUAL(at(spaces, 7, 250, 0x6000), 1);
	CHECK_EQUAL(at(spaces, 7, 350, 0x4800), 3);
	CHECK_EQUAL(at(spaces, 7, 350, 0x3800), 2);
	CHECK_EQUAL(at(spaces, 7, 350, 0x1800), 1);
	CHECK_EQUAL(at(spaces, 7, 350, 0x9800), 3);
	spaces_free(spaces);
}

TEST(two_libraries_that_take_turns_are_distinguished_by_time)
{
	struct spaces *spaces = spaces_new(BOUND);

	for (uint64_t i = 0; i < 1000; i++)
		map(spaces, 7, 100 * i, 0x1000, 0x2000, 1 + i % 2);
	for (uint64_t i = 0; i < 1000; i++)
		CHECK_EQUAL(at(spaces, 7, 100 * i + 50, 0x1800), 1 + i % 2);
	spaces_free(spaces);
}

TEST(the_same_mapping_again_takes_no_memory)
{
	struct spaces *spaces = spaces_new(BOUND);

	for (uint64_t i = 0; i < 1000; i++)
		map(spaces, 7, 100 * i, 0x1000, 0x2000, 1);
	CHECK_EQUAL(spaces_counts(spaces).mappings, 1);
	spaces_free(spaces);
}

TEST(an_exec_begins_an_empty_space_and_the_past_stays)
{
	struct spaces *spaces = spaces_new(BOUND);

	map(spaces, 7, 100, 0x1000, 0x2000, 1);
	spaces_exec(spaces, 7, 200);
	map(spaces, 7, 210, 0x5000, 0x6000, 2);
	CHECK_EQUAL(at(spaces, 7, 199, 0x1800), 1);
	CHECK_EQUAL(at(spaces, 7, 200, 0x1800), 0);
	CHECK_EQUAL(at(spaces, 7, 300, 0x5800), 2);
	CHECK_EQUAL(at(spaces, 7, 150, 0x5800), 0);
	spaces_free(spaces);
}

TEST(a_child_sees_what_its_parent_had_at_the_fork)
{
	struct spaces *spaces = spaces_new(BOUND);

	map(spaces, 7, 100, 0x1000, 0x2000, 1);
	spaces_fork(spaces, 8, 7, 200);
	map(spaces, 7, 300, 0x1000, 0x2000, 2);
	map(spaces, 8, 400, 0x1800, 0x3000, 3);
	CHECK_EQUAL(at(spaces, 8, 250, 0x1000), 1);
	CHECK_EQUAL(at(spaces, 8, 500, 0x1000), 1);
	CHECK_EQUAL(at(spaces, 8, 500, 0x1800), 3);
	CHECK_EQUAL(at(spaces, 8, 350, 0x1800), 1);
	CHECK_EQUAL(at(spaces, 7, 500, 0x1800), 2);
	CHECK_EQUAL(at(spaces, 7, 500, 0x2800), 0);
	spaces_free(spaces);
}

TEST(a_thousand_children_share_their_parents_mappings)
{
	struct spaces *spaces = spaces_new(BOUND);

	for (uint32_t i = 0; i < 500; i++)
		map(spaces, 7, 100, 0x10000 * i, 0x10000 * i + 0x1000, 1 + i);
	for (uint32_t i = 0; i < 1000; i++)
		spaces_fork(spaces, 1000 + i, 7, 200 + i);
	CHECK_EQUAL(spaces_counts(spaces).mappings, 500);
	for (uint32_t i = 0; i < 1000; i++)
		CHECK_EQUAL(at(spaces, 1000 + i, 5000, 0x10000 * (i % 500)), 1 + i % 500);
	spaces_free(spaces);
}

TEST(a_child_outlives_what_is_known_of_its_parent)
{
	struct spaces *spaces = spaces_new(BOUND);

	map(spaces, 7, 100, 0x1000, 0x2000, 1);
	spaces_fork(spaces, 8, 7, 200);
	spaces_fork(spaces, 9, 8, 300);
	spaces_forget(spaces, 7);
	spaces_forget(spaces, 8);
	CHECK_EQUAL(at(spaces, 7, 400, 0x1000), 0);
	CHECK_EQUAL(at(spaces, 9, 400, 0x1000), 1);
	spaces_forget(spaces, 9);
	CHECK_EQUAL(spaces_counts(spaces).mappings, 0);
	CHECK_EQUAL(spaces_counts(spaces).spaces, 0);
	spaces_free(spaces);
}

TEST(a_long_line_of_forks_keeps_every_generations_mappings)
{
	struct spaces *spaces = spaces_new(BOUND);

	map(spaces, 1000, 0, 0x1000, 0x2000, 1);
	for (uint32_t i = 1; i < 200; i++) {
		spaces_fork(spaces, 1000 + i, 1000 + i - 1, 100 * i);
		map(spaces, 1000 + i, 100 * i + 1, 0x1000 * (1 + i), 0x1000 * (2 + i), 1 + i);
		/* Half of the first one's range is replaced in each generation. */
		map(spaces, 1000 + i, 100 * i + 2, 0x1000, 0x1800, 1000 + i);
	}
	for (uint32_t i = 1; i < 200; i++)
		CHECK_EQUAL(at(spaces, 1199, 100000, 0x1000 * (1 + i)), 1 + i);
	CHECK_EQUAL(at(spaces, 1199, 100000, 0x1000), 1199);
	CHECK_EQUAL(at(spaces, 1199, 100000, 0x1800), 1);
	CHECK_EQUAL(at(spaces, 1150, 100000, 0x1000), 1150);
	spaces_free(spaces);
}

TEST(a_process_id_used_again_means_another_process)
{
	struct spaces *spaces = spaces_new(BOUND);

	map(spaces, 6, 50, 0x8000, 0x9000, 9);
	map(spaces, 7, 100, 0x1000, 0x2000, 1);
	spaces_fork(spaces, 7, 6, 500);
	CHECK_EQUAL(at(spaces, 7, 400, 0x1000), 1);
	CHECK_EQUAL(at(spaces, 7, 400, 0x8000), 0);
	CHECK_EQUAL(at(spaces, 7, 600, 0x1000), 0);
	CHECK_EQUAL(at(spaces, 7, 600, 0x8000), 9);
	spaces_free(spaces);
}

TEST(what_is_found_in_a_living_process_was_there_from_the_beginning)
{
	struct spaces *spaces = spaces_new(BOUND);

	found(spaces, 7, 1000, 0x1000, 0x2000, 1);
	CHECK_EQUAL(at(spaces, 7, 5, 0x1000), 1);
	map(spaces, 7, 2000, 0x1000, 0x2000, 2);
	CHECK_EQUAL(at(spaces, 7, 1999, 0x1000), 1);
	CHECK_EQUAL(at(spaces, 7, 2000, 0x1000), 2);
	/* An event was lost: the range is something else by now, but was not before. */
	found(spaces, 7, 3000, 0x1000, 0x2000, 3);
	CHECK_EQUAL(at(spaces, 7, 2999, 0x1000), 2);
	CHECK_EQUAL(at(spaces, 7, 3000, 0x1000), 3);
	found(spaces, 7, 4000, 0x7000, 0x8000, 4);
	CHECK_EQUAL(at(spaces, 7, 2000, 0x7000), 4);
	spaces_free(spaces);
}

TEST(beyond_the_bound_mappings_are_dropped_and_counted)
{
	struct spaces *spaces = spaces_new(100);

	for (uint32_t i = 0; i < 1000; i++)
		map(spaces, 1 + i / 10, 100, 0x1000 * i, 0x1000 * (i + 1), 1 + i);
	CHECK_THAT(spaces_counts(spaces).mappings + spaces_counts(spaces).spaces, <=, 101);
	CHECK_THAT(spaces_counts(spaces).dropped, >=, 890);
	CHECK_EQUAL(at(spaces, 1, 200, 0), 1);
	spaces_free(spaces);
}

TEST(replaced_spaces_make_space_before_anything_is_dropped)
{
	struct spaces *spaces = spaces_new(1000);

	for (uint32_t i = 0; i < 10000; i++) {
		spaces_fork(spaces, 100 + i % 50, 1, 10 * i);
		spaces_exec(spaces, 100 + i % 50, 10 * i + 1);
		map(spaces, 100 + i % 50, 10 * i + 2, 0x1000, 0x2000, 1 + i);
	}
	CHECK_EQUAL(spaces_counts(spaces).dropped, 0);
	CHECK_EQUAL(at(spaces, 149, 200000, 0x1000), 10000);
	spaces_free(spaces);
}

TEST(processes_that_have_ended_make_space_the_first_ones_first)
{
	struct spaces *spaces = spaces_new(100);

	map(spaces, 1, 1, 0x1000, 0x2000, 1);
	for (uint32_t i = 0; i < 1000; i++) {
		spaces_fork(spaces, 100 + i, 1, 10 * i + 2);
		spaces_exec(spaces, 100 + i, 10 * i + 3);
		map(spaces, 100 + i, 10 * i + 4, 0x3000, 0x4000, 2 + i);
		CHECK_EQUAL(at(spaces, 100 + i, 10 * i + 5, 0x3000), 2 + i);
		spaces_exit(spaces, 100 + i);
	}
	CHECK(!spaces_counts(spaces).dropped);
	CHECK_THAT(spaces_counts(spaces).spaces + spaces_counts(spaces).mappings, <=, 100);
	CHECK_EQUAL(at(spaces, 1, 10000, 0x1000), 1);
	CHECK_EQUAL(at(spaces, 1099, 10000, 0x3000), 1001);
	CHECK_EQUAL(at(spaces, 1080, 10000, 0x3000), 982);
	CHECK_EQUAL(at(spaces, 100, 10000, 0x3000), 0);
	spaces_free(spaces);
}

static uint32_t forgotten;

static void on_forget(void *data, uint32_t space)
{
	(void)data;
	CHECK(space);
	forgotten++;
}

TEST(not_too_many_ended_processes_are_known_and_who_wants_to_hears_of_the_others)
{
	struct spaces *spaces = spaces_new(1 << 20);

	spaces_on_forget(spaces, on_forget, NULL);
	for (uint32_t i = 0; i < 50000; i++) {
		map(spaces, 100 + i, i, 0x3000, 0x4000, 2);
		spaces_exit(spaces, 100 + i);
	}
	CHECK_EQUAL(spaces_counts(spaces).spaces + forgotten, 50000);
	CHECK_THAT(forgotten, >, 30000);
	spaces_free(spaces);
}

TEST(the_end_of_a_process_says_nothing_of_the_next_one_with_its_id)
{
	struct spaces *spaces = spaces_new(20);

	map(spaces, 7, 10, 0x1000, 0x2000, 1);
	spaces_exit(spaces, 7);
	spaces_fork(spaces, 7, 99, 20);
	map(spaces, 7, 21, 0x1000, 0x2000, 2);
	for (uint32_t i = 0; i < 100; i++) {
		map(spaces, 100 + i, 30 + i, 0x3000, 0x4000, 2);
		spaces_exit(spaces, 100 + i);
	}
	CHECK_EQUAL(at(spaces, 7, 100, 0x1000), 2);
	CHECK_THAT(at(spaces, 7, 10, 0x1000), !=, 1);
	CHECK(!spaces_counts(spaces).dropped);
	spaces_free(spaces);
}

TEST(one_process_cannot_fill_the_table)
{
	struct spaces *spaces = spaces_new(1000000);

	for (uint32_t i = 0; i < 50000; i++)
		map(spaces, 7, i, 0x1000ull * i, 0x1000ull * (i + 1), 1 + i);
	CHECK_THAT(spaces_counts(spaces).mappings, <=, 16384);
	CHECK_THAT(spaces_counts(spaces).dropped, >, 30000);
	map(spaces, 8, 100, 0x1000, 0x2000, 1);
	CHECK_EQUAL(at(spaces, 8, 100, 0x1000), 1);
	spaces_free(spaces);
}

/* Against a plain list of all that happened. */
TEST(any_history_is_looked_up_as_it_was)
{
	enum { FACTS = 400 };
	struct {
		uint64_t time_ns, start, end;
		uint32_t module;
	} facts[FACTS];
	struct spaces *spaces = spaces_new(BOUND);
	unsigned int seed = 1;

	for (uint32_t i = 0; i < FACTS; i++) {
		facts[i].time_ns = 10 * i;
		facts[i].start = rand_r(&seed) % 100;
		facts[i].end = facts[i].start + 1 + rand_r(&seed) % 30;
		facts[i].module = 1 + i;
		map(spaces, 7, facts[i].time_ns, facts[i].start, facts[i].end, facts[i].module);
	}
	for (uint64_t time_ns = 5; time_ns < 10 * FACTS; time_ns += 10)
		for (uint64_t address = 0; address < 130; address++) {
			uint32_t expected = 0;

			for (uint32_t i = 0; i < FACTS && facts[i].time_ns <= time_ns; i++)
				if (address >= facts[i].start && address < facts[i].end)
					expected = facts[i].module;
			CHECK_EQUAL(at(spaces, 7, time_ns, address), expected);
		}
	spaces_free(spaces);
}

struct seen {
	uint32_t modules[256]; /* by address; 0: nothing */
	uint64_t end;          /* of the mapping before */
};

static void on_mapping(void *data, const struct mapping *mapping)
{
	struct seen *seen = data;

	CHECK_THAT(mapping->start, <, mapping->end);
	CHECK_THAT(mapping->start, >=, seen->end);
	CHECK_THAT(mapping->end, <=, 256);
	seen->end = mapping->end;
	for (uint64_t address = mapping->start; address < mapping->end; address++) {
		CHECK_EQUAL(mapping->file_offset + (address - mapping->start), address + 1000);
		seen->modules[address] = mapping->module;
	}
}

/* A mapping whose file offset says what address it had, wherever it is cut. */
static void map_at(struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t start, uint64_t end, uint32_t module)
{
	struct mapping mapping = {
		.start = start,
		.end = end,
		.module = module,
		.file_offset = start + 1000,
	};

	spaces_map(spaces, pid, time_ns, &mapping);
}

TEST(what_is_mapped_now_is_recorded_byte_for_byte_and_in_order)
{
	unsigned int random = 3;

	for (int round = 0; round < 300; round++) {
		struct spaces *spaces = spaces_new(BOUND);
		struct seen seen = { 0 };
		uint32_t pid = 7;
		uint64_t time_ns = 0;

		for (uint32_t i = 0; i < 20; i++) {
			uint64_t start = rand_r(&random) % 200, size = 1 + rand_r(&random) % 40;

			time_ns += 10;
			map_at(spaces, pid, time_ns, start, start + size, 1 + i);
			/* It goes on in a child, which has what its parent had. */
			if (rand_r(&random) % 8 == 0) {
				time_ns += 10;
				spaces_fork(spaces, pid + 1, pid, time_ns);
				pid++;
			}
		}
		spaces_each(spaces, pid, on_mapping, &seen);
		for (uint64_t address = 0; address < 256; address++)
			CHECK_EQUAL(seen.modules[address], at(spaces, pid, UINT64_MAX, address));
		spaces_free(spaces);
	}
}

TEST(of_a_process_that_nobody_knows_nothing_is_recorded)
{
	struct spaces *spaces = spaces_new(BOUND);
	struct seen seen = { 0 };

	spaces_each(spaces, 7, on_mapping, &seen);
	CHECK(!seen.end);
	spaces_free(spaces);
}

/* Modules above 90 are not asked for. */
static bool is_below_90(void *data, uint32_t module)
{
	(void)data;
	return module < 90;
}

/* The modules near an address, each a digit pair: 30201 for 3, 2 and 1 in this order. */
static uint64_t near(const struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t address)
{
	struct mapping mappings[SPACES_NEAR_MAX];
	size_t count = spaces_near(spaces, pid, time_ns, address, is_below_90, NULL, mappings);
	uint64_t modules = 0;

	for (size_t i = 0; i < count; i++)
		modules = modules * 100 + mappings[i].module;
	return modules;
}

TEST(what_is_near_is_recorded_the_last_first_as_it_was)
{
	struct spaces *spaces = spaces_new(BOUND);

	CHECK_EQUAL(near(spaces, 7, 500, 0x1000), 0);
	map(spaces, 7, 100, 0x10000, 0x11000, 1);
	map(spaces, 7, 200, 0x30000, 0x31000, 2);
	map(spaces, 7, 300, 0x20000, 0x21000, 3);
	map(spaces, 7, 300, 0x24000, 0x25000, 99);
	CHECK_EQUAL(near(spaces, 7, 500, 0x25000), 30201);
	CHECK_EQUAL(near(spaces, 7, 250, 0x25000), 201);
	CHECK_EQUAL(near(spaces, 7, 500, 0), 30201);
	CHECK_EQUAL(near(spaces, 7, 500, UINT64_MAX), 30201);
	/* What another one has replaced is not there. */
	map(spaces, 7, 400, 0x1f000, 0x22000, 4);
	CHECK_EQUAL(near(spaces, 7, 500, 0x25000), 40201);
	CHECK_EQUAL(near(spaces, 7, 350, 0x25000), 30201);
	spaces_exec(spaces, 7, 600);
	CHECK_EQUAL(near(spaces, 7, 700, 0x25000), 0);
	spaces_free(spaces);
}

TEST(of_many_only_the_nearest_on_either_side_are_recorded)
{
	struct spaces *spaces = spaces_new(BOUND);

	for (uint32_t i = 0; i < 20; i++)
		map(spaces, 7, 100 + i, 0x10000 * (i + 1), 0x10000 * (i + 1) + 0x1000, 10 + i);
	/* Those at 0x70000 to 0xa0000, and at 0xb0000 to 0xe0000. */
	CHECK_EQUAL(near(spaces, 7, 500, 0xa8000), 2322212019181716);
	/* A fork's own ones are as near as they are, not more. */
	spaces_fork(spaces, 8, 7, 1000);
	for (uint32_t i = 0; i < 6; i++)
		map(spaces, 8, 1100 + i, 0x100 * (i + 1), 0x100 * (i + 1) + 0x100, 50 + i);
	CHECK_EQUAL(near(spaces, 8, 2000, 0xa8000), 2322212019181716);
	CHECK_EQUAL(near(spaces, 8, 2000, 0x28000), 5554151413121110);
	spaces_free(spaces);
}
