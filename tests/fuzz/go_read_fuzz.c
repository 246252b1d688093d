/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bytes are the memory of a process, its runtime's layout of goroutines, and a table of functions to unwind by. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf/go_table.h"
#include "symbol/go/go_read.h"

enum { OFFSETS = 8 };

static const uint64_t memory_begin = 0x400000;

struct bytes {
	const uint8_t *bytes;
	size_t size_bytes;
};

/* Addresses are taken from the bytes: most of them shall lead into them again. */
static bool read_pieces(void *data, struct memory_piece *pieces, size_t count, void *to)
{
	const struct bytes *memory = data;
	uint8_t *out = to;

	if (count > MEMORY_PIECES_MAX)
		abort();
	for (size_t i = 0; i < count; i++) {
		uint64_t address = pieces[i].address;
		uint64_t at = address < 1 << 16 ? address : address - memory_begin;

		if (out + pieces[i].size_bytes > (uint8_t *)to + MEMORY_PIECES_BYTES_MAX)
			abort();
		memset(out, 0, pieces[i].size_bytes);
		pieces[i].is_read = at <= memory->size_bytes && pieces[i].size_bytes <= memory->size_bytes - at;
		if (pieces[i].is_read)
			memcpy(out, memory->bytes + at, pieces[i].size_bytes);
		out += pieces[i].size_bytes;
	}
	return true;
}

/* Any that the worker could have found. */
static struct go_layout layout_of(const uint8_t offsets[OFFSETS])
{
	struct go_layout layout = {
		.result = GO_READ,
		.list_count = memory_begin,
		.list = memory_begin + 8,
		.stack_low = offsets[0],
		.stack_high = offsets[1],
		.saved_sp = offsets[2],
		.saved_pc = offsets[3],
		.status = offsets[4],
		.number = offsets[5],
		.reason = offsets[6],
		.creator = offsets[7],
		.size_bytes = 264,
		.reason_count = 2,
		.reasons = { "select", "chan receive" },
	};

	return layout;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	struct bytes memory = { bytes + OFFSETS, size_bytes - OFFSETS };
	struct go_memory reader = { read_pieces, &memory };
	static struct go_answer answer;
	struct go_layout layout;
	struct go_table *table;

	if (size_bytes < OFFSETS)
		return 0;
	layout = layout_of(bytes);
	table = go_table_new(memory.bytes, memory.size_bytes, memory_begin);
	go_read(&(struct go_question){ &reader, &layout, table, 0, size_bytes }, &answer);
	go_table_free(table);
	if (!go_answer_is_valid(&answer, offsetof(struct go_answer, rows) + answer.row_count * sizeof(*answer.rows)))
		abort();
	return 0;
}
