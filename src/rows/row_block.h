/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Some rows one after the other, in words. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_context;
struct event_row;
struct row_block;
struct row_cpus;
struct row_cursor;
struct row_index;

enum { ROW_BLOCK_ROWS = 256 }; /* at most */

struct row_block *row_block_new(void);
void row_block_free(struct row_block *block);

/*
 * Takes rows from the cursor in place of those that it has, from a row on, which is one of row_index_rows():
 * fewer if they are long or take long to find, none if the trace has none there or cannot be read. context: NULL:
 * nobody is known; lives as long as the block.
 */
void row_block_fill(struct row_block *block, struct row_cursor *cursor, struct row_index *index, struct row_cpus *cpus,
		    const struct event_context *context, uint64_t row);

bool row_block_has(const struct row_block *block, uint64_t row);

/* The memory that its words take. */
size_t row_block_bytes(const struct row_block *block);

/* Rows from one that it has on, which is borrowed; returns how many, count_max at most. */
size_t row_block_get(const struct row_block *block, uint64_t row, size_t count_max, const struct event_row **out);
