/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/event_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "activity/script_language.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "query/filter_threads.h"
#include "query/trace_states.h"
#include "rows/row_block.h"
#include "rows/row_choice.h"
#include "rows/row_cpus.h"
#include "rows/row_cursor.h"
#include "rows/row_index.h"
#include "rows/row_pass.h"
#include "states/states.h"
#include "trace/trace_reader.h"

/* Of rows that are far apart, a block has few. */
enum { BLOCKS = 64, BLOCKS_BYTES_MAX = 16 << 20 };

struct event_rows {
	struct arena *arena;
	const char *path;
	struct row_choice_options choice;
	struct script_text script; /* in the arena */
	struct table *threads;     /* that the filter means; NULL: it names none */
	struct row_pass *pass;
	struct row_index *index;
	struct row_cpus *cpus;
	struct row_cursor *cursor;
	const struct event_context *context; /* NULL: nobody is known */
	struct row_block *blocks[BLOCKS];    /* what was asked for last comes first */
	uint64_t blocks_of;                  /* the index as it was: row_index_changes() */
};

/* Names of threads are looked up in the history, which is shorter than the trace. */
static int copy_filter(struct event_rows *rows, const struct event_rows_options *options)
{
	struct event_filter *filter = &rows->choice.filter;

	*filter = options->filter;
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		for (size_t i = 0; i < filter->words[kind].count; i++)
			filter->words[kind].words[i] = arena_strdup(rows->arena, filter->words[kind].words[i]);
	if (!options->states)
		return 0;
	return filter_threads_find(filter, states_file(options->states->states), rows->path, &rows->threads);
}

static void copy_script(struct event_rows *rows, const struct script_text *script)
{
	rows->script.name = arena_strdup(rows->arena, script->name);
	rows->script.text = memcpy(arena_alloc(rows->arena, script->text_bytes + 1), script->text, script->text_bytes);
	rows->script.text_bytes = script->text_bytes;
	rows->choice.text = &rows->script;
}

static bool is_of_all(const struct row_choice_options *choice, const char *search)
{
	const struct event_filter *filter = &choice->filter;

	return !search && !choice->text && !filter->from_ns && !filter->to_ns && !filter->has_moment &&
	       !event_filter_is_set(filter);
}

static int open_all(struct event_rows *rows, const struct event_rows_options *options)
{
	const char *search = options->search && *options->search ? arena_strdup(rows->arena, options->search) : NULL;
	uint64_t first_ns = options->states ? options->states->first_ns : 0;
	int err = copy_filter(rows, options);
	bool has_all;

	if (err)
		return err;
	if (options->script)
		copy_script(rows, options->script);
	has_all = is_of_all(&rows->choice, search);
	err = row_pass_open(rows->path, first_ns, has_all ? NULL : &rows->choice, search, &rows->pass);
	if (err)
		return err;
	rows->index = row_index_new(row_pass_trace(rows->pass), has_all);
	rows->cpus = row_cpus_new(options->states ? options->states->states : NULL);
	rows->context = options->states ? options->states->context : NULL;
	return row_cursor_open(rows->path, first_ns, rows->index, rows->cpus, &rows->cursor);
}

int event_rows_open(const char *path, const struct event_rows_options *options, struct event_rows **out)
{
	struct event_rows *rows = xcalloc(1, sizeof(*rows));
	int err;

	rows->arena = arena_new();
	rows->path = arena_strdup(rows->arena, path);
	err = open_all(rows, options);
	if (err)
		event_rows_close(rows);
	else
		*out = rows;
	return err;
}

static void forget_blocks(struct event_rows *rows)
{
	for (int i = 0; i < BLOCKS; i++) {
		row_block_free(rows->blocks[i]);
		rows->blocks[i] = NULL;
	}
}

void event_rows_close(struct event_rows *rows)
{
	if (!rows)
		return;
	forget_blocks(rows);
	row_cursor_close(rows->cursor);
	row_cpus_free(rows->cpus);
	row_index_free(rows->index);
	row_pass_close(rows->pass);
	table_free(rows->threads);
	arena_free(rows->arena);
	free(rows);
}

int event_rows_step(struct event_rows *rows, uint64_t budget_ns)
{
	return row_pass_step(rows->pass, rows->index, budget_ns);
}

int event_rows_read(struct event_rows *rows, uint64_t budget_ns)
{
	return row_pass_read(rows->pass, budget_ns);
}

int event_rows_count_read(struct event_rows *rows)
{
	return row_pass_count(rows->pass, rows->index);
}

int event_rows_bits(const struct event_rows *rows, size_t chunk, struct row_bits *bits)
{
	return chunk < row_index_counted(rows->index) ? row_index_bits(rows->index, chunk, bits) : -EAGAIN;
}

uint64_t event_rows_count(const struct event_rows *rows)
{
	return row_index_rows(rows->index);
}

bool event_rows_is_counted(const struct event_rows *rows)
{
	return row_index_counted(rows->index) == row_index_chunks(rows->index);
}

/* --- Rows ------------------------------------------------------------------------------------ */

/* The block numbered i comes first. */
static const struct row_block *touch(struct event_rows *rows, int i)
{
	struct row_block *block = rows->blocks[i];

	for (; i; i--)
		rows->blocks[i] = rows->blocks[i - 1];
	return rows->blocks[0] = block;
}

/* One that has the row; NULL: there is none. */
static const struct row_block *find_block(struct event_rows *rows, uint64_t row)
{
	for (int i = 0; i < BLOCKS; i++)
		if (rows->blocks[i] && row_block_has(rows->blocks[i], row))
			return touch(rows, i);
	return NULL;
}

/* Rows can be long. */
static void bound_blocks(struct event_rows *rows)
{
	size_t size_bytes = 0;

	for (int i = 0; i < BLOCKS; i++)
		size_bytes += rows->blocks[i] ? row_block_bytes(rows->blocks[i]) : 0;
	if (size_bytes > BLOCKS_BYTES_MAX)
		forget_blocks(rows);
}

static const struct row_block *make_block(struct event_rows *rows, uint64_t row)
{
	bound_blocks(rows);
	if (!rows->blocks[BLOCKS - 1])
		rows->blocks[BLOCKS - 1] = row_block_new();
	row_block_fill(rows->blocks[BLOCKS - 1], rows->cursor, rows->index, rows->cpus, rows->context, row);
	return row_block_has(rows->blocks[BLOCKS - 1], row) ? touch(rows, BLOCKS - 1) : NULL;
}

/* To read a row, those before it in its chunk are read: some of them are wanted if somebody scrolls up. */
static const struct row_block *get_block(struct event_rows *rows, uint64_t row)
{
	uint64_t chunk_row = row_index_first(rows->index, row_index_find(rows->index, row));
	uint64_t begin = row - row % ROW_BLOCK_ROWS;
	const struct row_block *block = make_block(rows, begin > chunk_row ? begin : chunk_row);

	return block && row_block_has(block, row) ? block : make_block(rows, row);
}

size_t event_rows_get(struct event_rows *rows, uint64_t row, size_t count_max, const struct event_row **out)
{
	const struct row_block *block;

	if (row_index_changes(rows->index) != rows->blocks_of)
		forget_blocks(rows);
	rows->blocks_of = row_index_changes(rows->index);
	if (row >= event_rows_count(rows))
		return 0;
	block = find_block(rows, row);
	if (!block)
		block = get_block(rows, row);
	return block ? row_block_get(block, row, count_max, out) : 0;
}

uint64_t event_rows_at(struct event_rows *rows, int64_t since_ns)
{
	uint64_t first_ns = trace_reader_extent(row_cursor_trace(rows->cursor))->first_ns;

	return row_cursor_at(rows->cursor, since_ns > 0 ? first_ns + (uint64_t)since_ns : 0);
}
