/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include "graph/wait_places.h"

TEST(a_wait_without_a_place_is_where_all_that_are_called_alike_are)
{
	struct wait_places *places = wait_places_new();

	wait_places_add(places, "worker-* file read log", " in read_log");
	wait_places_add(places, "worker-* file read log", " in read_log");
	CHECK_STRING(wait_places_find(places, "worker-* file read log"), " in read_log");
	CHECK(!wait_places_find(places, "worker-* file read data"));
	wait_places_free(places);
}

TEST(of_several_places_none_is_chosen)
{
	struct wait_places *places = wait_places_new();

	wait_places_add(places, "worker-* lock", " in get");
	wait_places_add(places, "worker-* lock", " in put");
	wait_places_add(places, "worker-* lock", " in get");
	CHECK(!wait_places_find(places, "worker-* lock"));
	wait_places_free(places);
}
