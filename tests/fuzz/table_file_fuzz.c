/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bytes are the table of a file as the worker sends it; an odd first byte says that its rows
 * are distances, so that they rise. What is taken is valid, can be cut into parts, and comes out
 * as it went in.
 */
#include <stdlib.h>
#include <string.h>

#include "load.h"
#include "unwind/table_file.h"

enum {
	RESERVED_AT = 40 + sizeof(struct python_process) + sizeof(struct ruby_process) + sizeof(struct v8_process) +
		      sizeof(struct v8_heap),
	HEADER_BYTES = RESERVED_AT + sizeof(uint16_t) + UNWIND_SEGMENTS_MAX * 24,
	PART_UNITS = 300
};

static void let_rise(uint8_t *bytes, size_t size_bytes)
{
	struct unwind_row row;
	uint32_t pc = 0;

	for (size_t at = HEADER_BYTES; at + sizeof(row) <= size_bytes; at += sizeof(row)) {
		memcpy(&row, bytes + at, sizeof(row));
		pc += row.pc % 65536;
		row.pc = pc;
		memcpy(bytes + at, &row, sizeof(row));
	}
}

static void check_segments(const struct unwind_file *file)
{
	uint64_t start = 0x7f0000000000, bias;

	if (file->segment_count > UNWIND_SEGMENTS_MAX)
		abort();
	for (uint32_t i = 0; i < file->segment_count; i++) {
		const struct unwind_segment *s = &file->segments[i];

		for (uint64_t offset = 0; offset < 0x5000; offset += 0x1000)
			if (unwind_segment_bias(s, start, start + 0x2000, offset, &bias) &&
			    s->address - s->file_offset + offset + bias != start)
				abort();
	}
}

/* What the next bytes must be. */
struct expected {
	const uint8_t *bytes;
	size_t at, size_bytes;
};

static int compare(void *data, const void *bytes, size_t size_bytes)
{
	struct expected *expected = data;

	if (size_bytes > expected->size_bytes - expected->at ||
	    memcmp(bytes, expected->bytes + expected->at, size_bytes))
		abort();
	expected->at += size_bytes;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size_bytes)
{
	bool is_rising = size_bytes && bytes[0] & 1;
	struct unwind_file file = { 0 };
	struct load load = { 0 };
	struct expected expected;
	uint8_t *copy;

	if (size_bytes)
		size_bytes--, bytes++;
	copy = malloc(size_bytes + 1);
	memcpy(copy, bytes, size_bytes);
	/* All of the header that nobody keeps. */
	if (size_bytes >= RESERVED_AT + sizeof(uint16_t))
		memset(copy + RESERVED_AT, 0, sizeof(uint16_t));
	if (is_rising)
		let_rise(copy, size_bytes);
	if (!unwind_file_read(copy, size_bytes, &file)) {
		check_table(&file.table);
		check_segments(&file);
		/* All that the header counts comes out as it went in. */
		expected = (struct expected){ copy, 0, size_bytes };
		if (unwind_file_write(&file, compare, &expected))
			abort();
		load_table(&load, &file.table, 0x7f0000000000, PART_UNITS);
	}
	load_fini(&load);
	unwind_file_fini(&file);
	free(copy);
	return 0;
}
