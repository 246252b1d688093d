/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/ctf_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "export/spill.h"

/* Of strings that are kept in memory; others stand in their rows. */
enum { STRINGS_MAX = 1 << 18, STRING_BYTES_MAX = 32 << 20 };

struct sequence {
	uint64_t time_ns; /* of the last row that was put or read */
	struct spill_reader *reader;
};

struct ctf_rows {
	const struct ctf_kind *kinds;
	struct spill *spill;
	struct sequence *sequences;
	size_t count, capacity;
	struct table *known; /* numbers of strings, by hashes */
	struct arena *arena;
	const char **strings;
	size_t string_count, string_capacity, string_bytes;
	struct text row, words[CTF_FIELDS_MAX];
	struct heap_entry *heap; /* NULL: nothing has been read */
	size_t heap_count;
};

struct ctf_rows *ctf_rows_new(const struct ctf_kind *kinds)
{
	struct ctf_rows *rows = xcalloc(1, sizeof(*rows));

	*rows = (struct ctf_rows){
		.kinds = kinds,
		.spill = spill_new(),
		.known = table_new(),
		.arena = arena_new(),
	};
	return rows;
}

void ctf_rows_free(struct ctf_rows *rows)
{
	if (!rows)
		return;
	for (size_t i = 0; i < rows->count; i++)
		free(rows->sequences[i].reader);
	for (size_t i = 0; i < CTF_FIELDS_MAX; i++)
		text_fini(&rows->words[i]);
	text_fini(&rows->row);
	spill_free(rows->spill);
	table_free(rows->known);
	arena_free(rows->arena);
	free(rows->sequences);
	free(rows->strings);
	free(rows->heap);
	free(rows);
}

uint32_t ctf_rows_add(struct ctf_rows *rows)
{
	ARRAY_GROW(rows->sequences, rows->count, rows->capacity, 64);
	rows->sequences[rows->count++] = (struct sequence){ 0 };
	return spill_add(rows->spill);
}

int ctf_rows_error(const struct ctf_rows *rows)
{
	return spill_error(rows->spill);
}

/* --- Putting ---------------------------------------------------------------------------------- */

/* From 1 on; 0: there is no space for it. */
static uint32_t string_number(struct ctf_rows *rows, const char *string)
{
	uint64_t key = hash_string(1, string);
	uintptr_t number = (uintptr_t)table_find(rows->known, key);

	if (number || rows->string_count == STRINGS_MAX || rows->string_bytes > STRING_BYTES_MAX)
		return number;
	ARRAY_GROW(rows->strings, rows->string_count, rows->string_capacity, 256);
	rows->strings[rows->string_count++] = arena_strdup(rows->arena, string);
	rows->string_bytes += strlen(string);
	table_put(rows->known, key, (void *)(uintptr_t)rows->string_count);
	return rows->string_count;
}

static void put_string(struct ctf_rows *rows, const char *string)
{
	uint32_t number = string_number(rows, string);

	text_put_varint(&rows->row, number);
	if (number)
		return;
	text_put_varint(&rows->row, strlen(string));
	text_put(&rows->row, string);
}

void ctf_rows_put(struct ctf_rows *rows, uint32_t sequence, const struct ctf_row *row)
{
	const struct ctf_kind *kind = &rows->kinds[row->kind];
	struct sequence *in = &rows->sequences[sequence];
	uint64_t time_ns = row->time_ns > in->time_ns ? row->time_ns : in->time_ns;

	rows->row.length = 0;
	text_put_varint(&rows->row, time_ns - in->time_ns);
	text_put_varint(&rows->row, row->kind);
	for (unsigned int i = 0; i < kind->field_count; i++)
		if (kind->fields[i].type == CTF_STRING)
			put_string(rows, row->values[i].string);
		else
			text_put_varint(&rows->row, row->values[i].number);
	spill_put(rows->spill, sequence, &rows->row);
	in->time_ns = time_ns;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* The time of the sequence's next row. False: there is none. */
static bool has_next(struct ctf_rows *rows, size_t sequence)
{
	struct sequence *in = &rows->sequences[sequence];

	if (!spill_has_more(in->reader))
		return false;
	in->time_ns += spill_next_varint(in->reader);
	return true;
}

static void begin(struct ctf_rows *rows)
{
	rows->heap = xcalloc(rows->count + 1, sizeof(*rows->heap));
	for (size_t i = 0; i < rows->count; i++) {
		rows->sequences[i] = (struct sequence){ .reader = xcalloc(1, sizeof(struct spill_reader)) };
		spill_read(rows->spill, i, rows->sequences[i].reader);
		if (has_next(rows, i))
			rows->heap[rows->heap_count++] = (struct heap_entry){ rows->sequences[i].time_ns, i };
	}
	heap_make(rows->heap, rows->heap_count);
}

static const char *next_string(struct ctf_rows *rows, struct spill_reader *reader, struct text *words)
{
	uint64_t number = spill_next_varint(reader);

	if (number)
		return number <= rows->string_count ? rows->strings[number - 1] : "";
	words->length = 0;
	text_put(words, "");
	for (uint64_t left = spill_next_varint(reader); left && spill_has_more(reader); left--) {
		char byte = spill_next_byte(reader);

		text_put_bytes(words, &byte, 1);
	}
	return words->bytes;
}

bool ctf_rows_next(struct ctf_rows *rows, struct ctf_row *row)
{
	struct spill_reader *reader;
	const struct ctf_kind *kind;
	size_t sequence;

	if (!rows->heap)
		begin(rows);
	if (!rows->heap_count || spill_error(rows->spill))
		return false;
	sequence = rows->heap[0].number;
	row->time_ns = rows->heap[0].time_ns;
	reader = rows->sequences[sequence].reader;
	row->kind = spill_next_varint(reader);
	kind = &rows->kinds[row->kind];
	for (unsigned int i = 0; i < kind->field_count; i++)
		if (kind->fields[i].type == CTF_STRING)
			row->values[i].string = next_string(rows, reader, &rows->words[i]);
		else
			row->values[i].number = spill_next_varint(reader);
	if (has_next(rows, sequence))
		rows->heap[0].time_ns = rows->sequences[sequence].time_ns;
	else
		rows->heap[0] = rows->heap[--rows->heap_count];
	if (rows->heap_count)
		heap_sift_down(rows->heap, rows->heap_count, 0);
	return true;
}
