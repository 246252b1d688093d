/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/row_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "rows/event_line.h"
#include "rows/row_bits.h"
#include "rows/row_choice.h"
#include "rows/row_index.h"
#include "rows/row_reader.h"
#include "trace/trace_reader.h"

enum { ROWS_BETWEEN_LOOKS = 256 }; /* at the clock */

struct row_pass {
	const char *path;
	struct row_reader *rows;
	struct trace_reader *trace;
	struct row_choice *choice; /* NULL: all rows */
	const char *search;        /* NULL: all lines */
	uint64_t from_ns, to_ns;   /* CLOCK_MONOTONIC: chunks that lie beside it need not be read */
	size_t chunk;              /* the first one that is not counted */
	bool is_in_chunk;
	bool is_chunk_read;
	int looks_every;      /* so many rows */
	struct row_bits bits; /* of the chunk */
	struct text line;
};

/* What lies before may say something of what comes. */
static void bound(struct row_pass *pass, const struct row_choice_options *options)
{
	uint64_t first_ns = trace_reader_extent(pass->trace)->first_ns;
	const struct event_filter *filter = &options->filter;

	if (filter->from_ns && !row_choice_needs_all(pass->choice))
		pass->from_ns = filter->from_ns < UINT64_MAX - first_ns ? first_ns + filter->from_ns : UINT64_MAX;
	if (filter->to_ns && filter->to_ns < UINT64_MAX - first_ns)
		pass->to_ns = first_ns + filter->to_ns;
}

int row_pass_open(const char *path, uint64_t first_ns, const struct row_choice_options *choice, const char *search,
		  struct row_pass **out)
{
	struct row_pass *pass = xcalloc(1, sizeof(*pass));
	int err = row_reader_open(path, &pass->rows);

	if (err)
		goto out_close;
	pass->path = path;
	pass->trace = row_reader_trace(pass->rows);
	trace_reader_count_from(pass->trace, first_ns);
	pass->search = search;
	pass->to_ns = UINT64_MAX;
	pass->looks_every = choice && choice->text ? 1 : ROWS_BETWEEN_LOOKS; /* a row may take it long */
	if (choice)
		err = row_choice_open(choice, pass->trace, path, &pass->choice);
	if (err)
		goto out_close;
	if (choice)
		bound(pass, choice);
	*out = pass;
	return 0;

out_close:
	row_pass_close(pass);
	return err;
}

void row_pass_close(struct row_pass *pass)
{
	if (!pass)
		return;
	row_choice_close(pass->choice);
	row_reader_close(pass->rows);
	row_bits_fini(&pass->bits);
	text_fini(&pass->line);
	free(pass);
}

const struct trace_reader *row_pass_trace(const struct row_pass *pass)
{
	return pass->trace;
}

static bool has_text(struct row_pass *pass, const struct event_line *line)
{
	pass->line.length = 0;
	event_line_put(&pass->line, line);
	pass->line.bytes[--pass->line.length] = '\0';
	return strcasestr(pass->line.bytes, pass->search);
}

static void take(struct row_pass *pass, const struct event_line *line)
{
	if (pass->choice && !row_choice_take(pass->choice, trace_reader_known(pass->trace), line))
		return;
	if (!pass->search || has_text(pass, line))
		row_bits_add(&pass->bits, trace_reader_event_at(pass->trace), line->header->time_ns);
}

/* Nothing in it is asked for, whatever it has. */
static bool lies_beside(const struct row_pass *pass, size_t chunk)
{
	size_t count;
	const struct trace_place *place = &trace_reader_places(pass->trace, &count)[chunk];

	return place->kind == TRACE_CHUNK_EVENTS && (place->last_ns < pass->from_ns || place->first_ns >= pass->to_ns);
}

/* A chunk is damaged or missing, or cannot be read. */
static int take_error(const struct row_pass *pass, int err)
{
	return err == -EBADMSG ? 0 : fail(err, "cannot read %s", pass->path);
}

/* Takes some rows of the first chunk that is not counted. */
static int take_some(struct row_pass *pass)
{
	struct event_line line;
	int got = 1;

	if (!pass->is_in_chunk && !lies_beside(pass, pass->chunk)) {
		trace_reader_begin_chunk(pass->trace, pass->chunk);
		pass->is_in_chunk = true;
	}
	for (int i = 0; pass->is_in_chunk && got && i < pass->looks_every; i++) {
		got = row_reader_next(pass->rows, &line);
		if (got == 1)
			take(pass, &line);
		else if (got && take_error(pass, got))
			return got;
		pass->is_in_chunk = got;
	}
	pass->is_chunk_read = !pass->is_in_chunk;
	return 0;
}

int row_pass_read(struct row_pass *pass, uint64_t budget_ns)
{
	uint64_t begin_ns = clock_ns();
	int err = 0;

	while (!err && !pass->is_chunk_read) {
		err = take_some(pass);
		if (clock_ns() - begin_ns >= budget_ns)
			break;
	}
	return err;
}

int row_pass_count(struct row_pass *pass, struct row_index *index)
{
	int err = 0;

	if (pass->is_chunk_read) {
		err = row_index_count(index, &pass->bits);
		row_bits_clear(&pass->bits);
		pass->is_chunk_read = false;
		pass->chunk++;
	}
	return err ? err : pass->chunk < row_index_chunks(index);
}

int row_pass_step(struct row_pass *pass, struct row_index *index, uint64_t budget_ns)
{
	uint64_t begin_ns = clock_ns(), spent_ns = 0;
	int got = row_pass_count(pass, index);

	while (got > 0) {
		got = row_pass_read(pass, budget_ns - spent_ns);
		if (!got)
			got = row_pass_count(pass, index);
		spent_ns = clock_ns() - begin_ns;
		if (spent_ns >= budget_ns)
			break;
	}
	return got;
}
