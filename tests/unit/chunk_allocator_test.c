/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "collect/unwind/chunk_allocator.h"
#include "unwind_format.h"

static const uint64_t rest_ns = 1000;

TEST(an_allocator_without_chunks_has_nothing)
{
	struct chunk_allocator *allocator = chunk_allocator_new(rest_ns);
	uint32_t place;

	CHECK(!chunk_allocator_take(allocator, 1, 0, &place) && !chunk_allocator_largest(allocator, 0) &&
	      !chunk_allocator_used(allocator));
	chunk_allocator_free(allocator);
	chunk_allocator_free(NULL);
}

TEST(nothing_lies_across_two_chunks)
{
	struct chunk_allocator *allocator = chunk_allocator_new(rest_ns);
	uint32_t place;

	chunk_allocator_add_chunk(allocator);
	chunk_allocator_add_chunk(allocator);
	CHECK_EQUAL(chunk_allocator_largest(allocator, 0), UNWIND_CHUNK_UNITS);
	CHECK(!chunk_allocator_take(allocator, UNWIND_CHUNK_UNITS + 1, 0, &place));
	CHECK(chunk_allocator_take(allocator, UNWIND_CHUNK_UNITS - 1, 0, &place));
	CHECK_EQUAL(place, 0);
	CHECK(chunk_allocator_take(allocator, 2, 0, &place));
	CHECK_EQUAL(place, UNWIND_CHUNK_UNITS);
	CHECK(chunk_allocator_take(allocator, 1, 0, &place));
	CHECK_EQUAL(place, UNWIND_CHUNK_UNITS - 1);
	chunk_allocator_free(allocator);
}

TEST(what_is_given_back_rests_before_it_is_taken_again)
{
	struct chunk_allocator *allocator = chunk_allocator_new(rest_ns);
	uint32_t place;

	chunk_allocator_add_chunk(allocator);
	CHECK(chunk_allocator_take(allocator, UNWIND_CHUNK_UNITS, 0, &place));
	chunk_allocator_give(allocator, place, UNWIND_CHUNK_UNITS, 50);
	CHECK(!chunk_allocator_used(allocator));
	CHECK(!chunk_allocator_take(allocator, 1, 50 + rest_ns - 1, &place));
	CHECK(chunk_allocator_take(allocator, UNWIND_CHUNK_UNITS, 50 + rest_ns, &place));
	CHECK_EQUAL(chunk_allocator_used(allocator), UNWIND_CHUNK_UNITS);
	chunk_allocator_free(allocator);
}

struct piece {
	uint32_t place, count;
};

/* A byte for each unit says what is taken, and what of it rests. */
TEST(random_pieces_never_overlap_and_all_comes_back_in_one_piece)
{
	enum { CHUNKS = 3, PIECES = 400, STEPS = 60000, FREE = 0, TAKEN = 1 };
	uint8_t *units = calloc(CHUNKS, UNWIND_CHUNK_UNITS);
	struct chunk_allocator *allocator = chunk_allocator_new(rest_ns);
	struct piece pieces[PIECES];
	uint32_t piece_count = 0, taken = 0, place;
	uint64_t now_ns = 0;

	for (int i = 0; i < CHUNKS; i++)
		chunk_allocator_add_chunk(allocator);
	srand(1);
	for (int step = 0; step < STEPS; step++) {
		now_ns += rand() % 100;
		if (piece_count < PIECES && rand() % 2) {
			uint32_t count = 1 + rand() % (rand() % 8 ? 512 : UNWIND_CHUNK_UNITS / 16);

			if (!chunk_allocator_take(allocator, count, now_ns, &place))
				continue;
			CHECK_EQUAL(place / UNWIND_CHUNK_UNITS, (place + count - 1) / UNWIND_CHUNK_UNITS);
			CHECK(!memchr(units + place, TAKEN, count));
			memset(units + place, TAKEN, count);
			pieces[piece_count++] = (struct piece){ place, count };
			taken += count;
		} else if (piece_count) {
			struct piece *piece = &pieces[rand() % piece_count];

			chunk_allocator_give(allocator, piece->place, piece->count, now_ns);
			memset(units + piece->place, FREE, piece->count);
			taken -= piece->count;
			*piece = pieces[--piece_count];
		}
		CHECK_EQUAL(chunk_allocator_used(allocator), taken);
	}
	while (piece_count--)
		chunk_allocator_give(allocator, pieces[piece_count].place, pieces[piece_count].count, now_ns);
	now_ns += rest_ns;
	for (int i = 0; i < CHUNKS; i++)
		CHECK(chunk_allocator_take(allocator, UNWIND_CHUNK_UNITS, now_ns, &place));
	CHECK(!chunk_allocator_largest(allocator, now_ns));
	chunk_allocator_free(allocator);
	free(units);
}
