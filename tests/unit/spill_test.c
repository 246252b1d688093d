/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings of bytes that grow side by side come back as they were put, however they are cut into chunks. */
#include "test.h"

#include "base/text.h"
#include "export/spill.h"

enum { STRINGS = 5, ROUNDS = 3000 };

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* Each string gets pieces of its own length: empty ones, and such as are longer than a chunk. */
static void put_piece(struct spill *spill, uint32_t number, struct text *model, uint64_t random)
{
	size_t length = random % 100 ? random % 40 : random % (3 * SPILL_CHUNK_BYTES);
	struct text piece = { 0 };

	text_put(&piece, "");
	for (size_t i = 0; i < length; i++)
		text_put_bytes(&piece, &(char){ random + i }, 1);
	spill_put(spill, number, &piece);
	if (length)
		text_put_bytes(model, piece.bytes, piece.length);
	text_fini(&piece);
}

static void check_equal(struct spill *spill, uint32_t number, const struct text *model)
{
	struct spill_reader reader;

	spill_read(spill, number, &reader);
	for (size_t i = 0; i < model->length; i++) {
		CHECK(spill_has_more(&reader));
		CHECK_EQUAL(spill_next_byte(&reader), (uint8_t)model->bytes[i]);
	}
	CHECK(!spill_has_more(&reader));
	CHECK_EQUAL(spill_next_byte(&reader), 0);
}

TEST(strings_that_grow_side_by_side_come_back_as_they_were_put)
{
	struct spill *spill = spill_new();
	struct text models[STRINGS] = { 0 };
	uint64_t seed = 1;

	for (uint32_t i = 0; i < STRINGS; i++)
		CHECK_EQUAL(spill_add(spill), i);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint32_t number = next_random(&seed) % (STRINGS - 1); /* the last one stays empty */

		put_piece(spill, number, &models[number], next_random(&seed));
	}
	for (unsigned int twice = 0; twice < 2; twice++)
		for (uint32_t i = 0; i < STRINGS; i++)
			check_equal(spill, i, &models[i]);
	CHECK_EQUAL(spill_error(spill), 0);
	for (uint32_t i = 0; i < STRINGS; i++)
		text_fini(&models[i]);
	spill_free(spill);
}

TEST(a_string_of_whole_chunks_ends_where_they_end)
{
	struct spill *spill = spill_new();
	struct text model = { 0 };
	uint32_t number = spill_add(spill);

	for (size_t i = 0; i < 4 * SPILL_CHUNK_BYTES; i++) {
		struct text byte = { 0 };

		text_put_bytes(&byte, &(char){ i }, 1);
		spill_put(spill, number, &byte);
		text_put_bytes(&model, byte.bytes, 1);
		text_fini(&byte);
		if (i % (SPILL_CHUNK_BYTES - sizeof(uint64_t)) < 2)
			check_equal(spill, number, &model);
	}
	check_equal(spill, number, &model);
	text_fini(&model);
	spill_free(spill);
}

TEST(numbers_come_back)
{
	static const uint64_t numbers[] = { 0, 1, 127, 128, UINT32_MAX, UINT64_MAX, 1ull << 63 };
	enum { NUMBERS = sizeof(numbers) / sizeof(*numbers) };
	struct spill *spill = spill_new();
	uint32_t number = spill_add(spill);
	struct spill_reader reader;

	for (unsigned int i = 0; i < 1000; i++) {
		struct text piece = { 0 };

		text_put_varint(&piece, numbers[i % NUMBERS]);
		spill_put(spill, number, &piece);
		text_fini(&piece);
	}
	spill_read(spill, number, &reader);
	for (unsigned int i = 0; i < 1000; i++)
		CHECK_EQUAL(spill_next_varint(&reader), numbers[i % NUMBERS]);
	CHECK(!spill_has_more(&reader));
	spill_free(spill);
}
