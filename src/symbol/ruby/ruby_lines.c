/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ruby has a list of lines, and for each unit of code how many of them begin at or before it: for the first 54
 * units these numbers, 9 in a word; for the others a bit a unit where one begins, in blocks of 512. (Ruby's iseq.c,
 * struct succ_index_table)
 */
#include "symbol/ruby/ruby_lines.h"

#include <string.h>

#include "symbol/python/python_lines.h"
#include "values.h"

enum {
	LINE_BYTES_MAX = 12,
	LINES_MAX = 65536 / LINE_BYTES_MAX, /* what is read of a process at once */
	COUNTED_UNITS = 54,                 /* with a number */
	COUNTS_PER_WORD = 9,
	COUNT_BITS = 7,
	COUNT_MASK = (1 << COUNT_BITS) - 1,
	COUNT_WORDS = COUNTED_UNITS / COUNTS_PER_WORD,
	BLOCK_UNITS = 512,
	BLOCK_WORDS = 10,
	BLOCK_BITS = 2, /* words before them */
	WORD_BITS = 64,
	BLOCKS_MAX = (STACK_MANAGED_INDEX + 1) / BLOCK_UNITS,
	LINE_MAX = 1 << 28,
};

struct positions {
	uint64_t counts[COUNT_WORDS];
	uint64_t blocks[BLOCKS_MAX][BLOCK_WORDS];
};

/* How many lines begin at or before a unit; before: the same of the unit before it. */
static uint32_t count_lines(const struct positions *positions, uint32_t unit, uint32_t before)
{
	uint32_t i = unit - COUNTED_UNITS;

	if (unit < COUNTED_UNITS)
		return positions->counts[unit / COUNTS_PER_WORD] >> unit % COUNTS_PER_WORD * COUNT_BITS & COUNT_MASK;
	return before +
	       (positions->blocks[i / BLOCK_UNITS][BLOCK_BITS + i % BLOCK_UNITS / WORD_BITS] >> i % WORD_BITS & 1);
}

static bool read_positions(const struct ruby_memory *memory, const struct ruby_lines *lines,
			   struct positions *positions)
{
	uint32_t block_count;

	if (!ruby_read_words(memory, lines->positions, positions->counts, COUNT_WORDS))
		return false;
	if (lines->unit_count <= COUNTED_UNITS)
		return true;
	block_count = (lines->unit_count - COUNTED_UNITS + BLOCK_UNITS - 1) / BLOCK_UNITS;
	return block_count <= BLOCKS_MAX && ruby_read_words(memory, lines->positions + sizeof(positions->counts),
							    positions->blocks[0], (size_t)block_count * BLOCK_WORDS);
}

/* 0: unknown. */
static uint32_t line_at(const uint8_t *entries, uint32_t line_bytes, uint32_t line_count, uint32_t count)
{
	uint32_t line;

	if (!count || count > line_count)
		return 0;
	memcpy(&line, entries + (size_t)(count - 1) * line_bytes, sizeof(line));
	return line < LINE_MAX ? line : 0;
}

size_t ruby_lines_read(const struct ruby_memory *memory, const struct ruby_lines *lines, uint8_t *table,
		       size_t capacity)
{
	static uint8_t entries[LINES_MAX * LINE_BYTES_MAX]; /* there is one thread */
	static struct positions positions;
	struct python_lines_writer writer = { .table = table, .capacity = capacity, .line = lines->first_line };
	uint32_t line_bytes = memory->version->line_bytes, count = 1;

	if (!lines->line_count || lines->line_count > LINES_MAX || lines->unit_count > STACK_MANAGED_INDEX ||
	    !ruby_read(memory, lines->lines, entries, (size_t)lines->line_count * line_bytes) ||
	    (lines->line_count > 1 && !read_positions(memory, lines, &positions)))
		return 0;
	for (uint32_t unit = 0; unit < lines->unit_count; unit++) {
		if (lines->line_count > 1)
			count = count_lines(&positions, unit, count);
		python_lines_put(&writer, line_at(entries, line_bytes, lines->line_count, count));
	}
	return python_lines_end(&writer);
}
