/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "symbol/answer/answer.h"
#include "symbol/known_code.h"

static struct code_answer *answer_at(uint64_t begin, size_t size_bytes)
{
	struct code_answer *answer = xcalloc(1, sizeof(*answer));

	answer->file_offset = begin;
	answer->size_bytes = size_bytes;
	memset(answer->code, (int)begin, size_bytes);
	return answer;
}

static void put(struct known_code *known, const struct code_place *place, uint64_t begin, size_t size_bytes)
{
	struct code_answer *answer = answer_at(begin, size_bytes);

	known_code_put(known, place, answer);
	free(answer);
}

TEST(code_of_a_function_is_known_for_all_its_places)
{
	struct known_code *known = known_code_new();
	struct code_place place = { 1, 0x1000, 0x1010, 256 }, other = place;
	const struct code_answer *found;

	CHECK(!known_code_find(known, &place));
	put(known, &place, 0x1000, 100);
	other.offset = 0x1000 + 99;
	found = known_code_find(known, &other);
	CHECK(found && found->size_bytes == 100 && found->file_offset == 0x1000 && !found->code[99]);
	other.offset++;
	CHECK(!known_code_find(known, &other));
	other.offset = 0xfff;
	CHECK(!known_code_find(known, &other));
	other = place;
	other.module = 2;
	CHECK(!known_code_find(known, &other));
	other = place;
	other.size_bytes = 255;
	CHECK(!known_code_find(known, &other));
	known_code_free(known);
}

TEST(code_around_a_place_is_not_that_of_its_function)
{
	struct known_code *known = known_code_new();
	struct code_place place = { 1, 0x1000, 0x1200, 256 }, begin = { 1, 0x1000, 0x1010, 256 };
	struct code_place nameless = { 1, UINT64_MAX, 0x1010, 256 };

	put(known, &place, 0x1180, 256);
	CHECK(!known_code_find(known, &place));
	put(known, &begin, 0x1001, 256);
	CHECK(!known_code_find(known, &begin));
	put(known, &nameless, 0x1010, 256);
	CHECK(!known_code_find(known, &nameless));
	put(known, &begin, 0x1000, 256);
	CHECK(known_code_find(known, &begin));
	/* Its last instruction would not be whole. */
	begin.offset = 0x1000 + 256 - 15;
	CHECK(!known_code_find(known, &begin));
	known_code_free(known);
}
