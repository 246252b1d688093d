/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph/longest.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "test.h"

enum { NODES = 60, TREES = 2000 };

static double ns[NODES];
static size_t parents[NODES];

static bool is_above(size_t at, size_t below)
{
	while (below != SIZE_MAX && below != at)
		below = parents[below];
	return below == at;
}

/* How many come before it: those with more time, and of those with as much the first. */
static size_t rank(size_t at)
{
	size_t before = 0;

	for (size_t i = 0; i < NODES; i++)
		before += ns[i] > ns[at] || (ns[i] == ns[at] && i < at);
	return before;
}

static bool is_wanted(size_t at, size_t count_max)
{
	bool wanted = false;

	for (size_t i = 0; i < NODES; i++)
		wanted |= rank(i) < count_max && is_above(at, i);
	return wanted;
}

/* Times of few kinds, so that many are the same, and of children that have more than what they are below. */
TEST(the_longest_have_places_and_so_has_what_is_above_them)
{
	for (unsigned int seed = 0; seed < TREES; seed++) {
		size_t count_max = (srand(seed), rand() % (NODES + 5)), kept, expected = 0, *places;

		for (size_t i = 0; i < NODES; i++) {
			ns[i] = rand() % 20;
			parents[i] = i ? rand() % i : SIZE_MAX;
		}
		places = longest_places(ns, parents, NODES, count_max, &kept);
		for (size_t i = 0; i < NODES; i++)
			CHECK_EQUAL(places[i], (is_wanted(i, count_max) ? expected++ : SIZE_MAX));
		CHECK_EQUAL(kept, expected);
		free(places);
	}
}

TEST(a_tree_without_nodes_has_no_places)
{
	size_t kept = 1, *places = longest_places(ns, parents, 0, 10, &kept);

	CHECK(places && !kept);
	free(places);
}
