/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table is a row of entries. The first byte of an entry, alone, has its highest bit set; below
 * are its form in 4 bits and how many units of code it covers, less one, in 3. Numbers that follow
 * have 6 bits a byte, the lowest first, and bit 6 says that more come; of a signed one the lowest
 * bit is the sign. (CPython's Objects/locations.md)
 */
#include "symbol/python/python_lines.h"

enum {
	ENTRY_BEGINS = 0x80,
	FORM_SHIFT = 3,
	FORM_MASK = 0xf,
	LENGTH_MASK = 0x7,
	NUMBER_BITS = 6,
	NUMBER_GOES_ON = 0x40,
	UNITS_MAX = LENGTH_MASK + 1,
	/* Forms; those below only have columns. */
	FORM_ONE_LINE_0 = 10, /* 10 to 12: so many lines less 10 further down */
	FORM_NO_COLUMNS = 13,
	FORM_LONG = 14,
	FORM_NONE = 15,
};

struct location_cursor {
	const uint8_t *at, *end;
};

static uint32_t read_number(struct location_cursor *cursor)
{
	uint32_t number = 0, shift = 0;

	while (cursor->at < cursor->end) {
		uint8_t byte = *cursor->at++;

		if (shift < 32)
			number |= (uint32_t)(byte & (NUMBER_GOES_ON - 1)) << shift;
		shift += NUMBER_BITS;
		if (!(byte & NUMBER_GOES_ON))
			break;
	}
	return number;
}

static uint32_t read_signed(struct location_cursor *cursor)
{
	uint32_t number = read_number(cursor);

	return number & 1 ? -(number >> 1) : number >> 1;
}

uint32_t python_line_find(const void *table, size_t size_bytes, uint32_t first_line, uint32_t index)
{
	struct location_cursor cursor = { table, (const uint8_t *)table + size_bytes };
	uint32_t line = first_line, end = 0;

	while (cursor.at < cursor.end) {
		uint8_t head = *cursor.at++, form = head >> FORM_SHIFT & FORM_MASK;

		if (form == FORM_NO_COLUMNS || form == FORM_LONG)
			line += read_signed(&cursor);
		else if (form >= FORM_ONE_LINE_0 && form < FORM_NO_COLUMNS)
			line += form - FORM_ONE_LINE_0;
		end += (head & LENGTH_MASK) + 1;
		if (index < end)
			return form == FORM_NONE ? 0 : line;
		while (cursor.at < cursor.end && !(*cursor.at & ENTRY_BEGINS))
			cursor.at++;
	}
	return 0;
}

static void put_byte(struct python_lines_writer *writer, uint32_t byte)
{
	if (writer->size_bytes == writer->capacity)
		writer->is_full = true;
	else
		writer->table[writer->size_bytes++] = byte;
}

static void put_signed(struct python_lines_writer *writer, uint32_t number)
{
	number = number >> 31 ? -number << 1 | 1 : number << 1;
	for (; number >= NUMBER_GOES_ON; number >>= NUMBER_BITS)
		put_byte(writer, number % NUMBER_GOES_ON | NUMBER_GOES_ON);
	put_byte(writer, number);
}

static void put_entry(struct python_lines_writer *writer)
{
	bool has_line = writer->next_line;

	if (!writer->unit_count)
		return;
	put_byte(writer,
		 ENTRY_BEGINS | (has_line ? FORM_NO_COLUMNS : FORM_NONE) << FORM_SHIFT | (writer->unit_count - 1));
	if (has_line) {
		put_signed(writer, writer->next_line - writer->line);
		writer->line = writer->next_line;
	}
	writer->unit_count = 0;
}

void python_lines_put(struct python_lines_writer *writer, uint32_t line)
{
	if (line != writer->next_line || writer->unit_count == UNITS_MAX)
		put_entry(writer);
	writer->next_line = line;
	writer->unit_count++;
}

size_t python_lines_end(struct python_lines_writer *writer)
{
	put_entry(writer);
	return writer->is_full ? 0 : writer->size_bytes;
}
