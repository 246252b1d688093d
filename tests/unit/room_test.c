/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "collect/room.h"
#include "unwind_format.h"

static const uint64_t rest_ns = 1000;

TEST(a_room_without_chunks_has_nothing)
{
	struct room *room = room_new(rest_ns);
	uint32_t place;

	CHECK(!room_take(room, 1, 0, &place) && !room_largest(room, 0) && !room_used(room));
	room_free(room);
	room_free(NULL);
}

TEST(nothing_lies_across_two_chunks)
{
	struct room *room = room_new(rest_ns);
	uint32_t place;

	room_add_chunk(room);
	room_add_chunk(room);
	CHECK_EQUAL(room_largest(room, 0), UNWIND_CHUNK_UNITS);
	CHECK(!room_take(room, UNWIND_CHUNK_UNITS + 1, 0, &place));
	CHECK(room_take(room, UNWIND_CHUNK_UNITS - 1, 0, &place));
	CHECK_EQUAL(place, 0);
	CHECK(room_take(room, 2, 0, &place));
	CHECK_EQUAL(place, UNWIND_CHUNK_UNITS);
	CHECK(room_take(room, 1, 0, &place));
	CHECK_EQUAL(place, UNWIND_CHUNK_UNITS - 1);
	room_free(room);
}

TEST(what_is_given_back_rests_before_it_is_taken_again)
{
	struct room *room = room_new(rest_ns);
	uint32_t place;

	room_add_chunk(room);
	CHECK(room_take(room, UNWIND_CHUNK_UNITS, 0, &place));
	room_give(room, place, UNWIND_CHUNK_UNITS, 50);
	CHECK(!room_used(room));
	CHECK(!room_take(room, 1, 50 + rest_ns - 1, &place));
	CHECK(room_take(room, UNWIND_CHUNK_UNITS, 50 + rest_ns, &place));
	CHECK_EQUAL(room_used(room), UNWIND_CHUNK_UNITS);
	room_free(room);
}

struct piece {
	uint32_t place, count;
};

/* A byte for each unit tells what is taken, and what of it rests. */
TEST(random_pieces_never_overlap_and_all_comes_back_in_one_piece)
{
	enum { CHUNKS = 3, PIECES = 400, STEPS = 60000, FREE = 0, TAKEN = 1 };
	uint8_t *units = calloc(CHUNKS, UNWIND_CHUNK_UNITS);
	struct room *room = room_new(rest_ns);
	struct piece pieces[PIECES];
	uint32_t piece_count = 0, taken = 0, place;
	uint64_t now_ns = 0;

	for (int i = 0; i < CHUNKS; i++)
		room_add_chunk(room);
	srand(1);
	for (int step = 0; step < STEPS; step++) {
		now_ns += rand() % 100;
		if (piece_count < PIECES && rand() % 2) {
			uint32_t count = 1 + rand() % (rand() % 8 ? 512 : UNWIND_CHUNK_UNITS / 16);

			if (!room_take(room, count, now_ns, &place))
				continue;
			CHECK_EQUAL(place / UNWIND_CHUNK_UNITS, (place + count - 1) / UNWIND_CHUNK_UNITS);
			CHECK(!memchr(units + place, TAKEN, count));
			memset(units + place, TAKEN, count);
			pieces[piece_count++] = (struct piece){ place, count };
			taken += count;
		} else if (piece_count) {
			struct piece *piece = &pieces[rand() % piece_count];

			room_give(room, piece->place, piece->count, now_ns);
			memset(units + piece->place, FREE, piece->count);
			taken -= piece->count;
			*piece = pieces[--piece_count];
		}
		CHECK_EQUAL(room_used(room), taken);
	}
	while (piece_count--)
		room_give(room, pieces[piece_count].place, pieces[piece_count].count, now_ns);
	now_ns += rest_ns;
	for (int i = 0; i < CHUNKS; i++)
		CHECK(room_take(room, UNWIND_CHUNK_UNITS, now_ns, &place));
	CHECK(!room_largest(room, now_ns));
	room_free(room);
	free(units);
}
