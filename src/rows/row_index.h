/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows each chunk of a trace has: what the chunks say of themselves, until somebody has counted; then a
 * number for each chunk in memory, and where events are left out, a bit for each in a file without a name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct row_bits;
struct row_index;
struct trace_reader;

/* is_of_all: what is not counted yet has as many rows as events; else it has none. */
struct row_index *row_index_new(const struct trace_reader *reader, bool is_of_all);
void row_index_free(struct row_index *index);

/* How many chunks there are; from which one on they are not counted. */
size_t row_index_chunks(const struct row_index *index);
size_t row_index_counted(const struct row_index *index);

/* The first chunk that is not counted has these rows. 0, or a negative errno after a message. */
int row_index_count(struct row_index *index, const struct row_bits *bits);

/* One that is not counted has so many, as far as can be said without those before it. */
void row_index_guess(struct row_index *index, size_t chunk, uint32_t count);

/* How often rows have turned out to have other numbers, or to be others, than was guessed. */
uint64_t row_index_changes(const struct row_index *index);

/* The rows of all chunks. */
uint64_t row_index_rows(struct row_index *index);

/* The number of the first row of a chunk, or of the first one behind it. */
uint64_t row_index_first(struct row_index *index, size_t chunk);

/* The chunk that has a row, which is one of row_index_rows(). */
size_t row_index_find(struct row_index *index, uint64_t row);

/* The first chunk, from this one on, that may have a row at or after time_ns; row_index_chunks(): none has. */
size_t row_index_at(const struct row_index *index, size_t chunk, uint64_t time_ns);

/* Gets which events of a chunk that is counted are rows. 0, or a negative errno. */
int row_index_bits(const struct row_index *index, size_t chunk, struct row_bits *bits);
