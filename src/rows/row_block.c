/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/row_block.h"

#include <stdlib.h>

#include "activity/event_context.h"
#include "activity/named_event.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "events.h"
#include "rows/event_line.h"
#include "rows/event_row.h"
#include "rows/row_cpus.h"
#include "rows/row_cursor.h"
#include "rows/row_index.h"
#include "session/hosts.h"
#include "session/threads.h"

/* A row that is there is taken whatever it costs; no further ones then. */
enum { TEXT_BYTES_MAX = 256 << 10, FILL_NS_MAX = 30000000 };

struct row_block {
	struct event_row rows[ROW_BLOCK_ROWS];
	size_t event_at[ROW_BLOCK_ROWS], text_at[ROW_BLOCK_ROWS]; /* in words */
	struct text words;
	uint64_t first;
	size_t count;
};

struct row_block *row_block_new(void)
{
	return xcalloc(1, sizeof(struct row_block));
}

void row_block_free(struct row_block *block)
{
	if (!block)
		return;
	text_fini(&block->words);
	free(block);
}

static void put_who(struct event_row *row, const struct named_event *event)
{
	const struct thread *thread;

	row->host = row->process = row->name = "";
	if (!event->context)
		return;
	row->host = named_event_host(event);
	thread = event_context_thread(event->context, event->thread);
	if (!thread)
		return;
	row->tid = id_on_host(thread->tid);
	row->name = thread->name;
	row->process = event_context_process(event->context, thread->pid);
}

static void put_place(struct event_row *row, const struct ev_header *header)
{
	const struct ev_sched_sample *e = (const struct ev_sched_sample *)header;

	if (header->subsys != TRACE_SUBSYS_SCHED || header->event != TRACE_EVENT_SCHED_SAMPLE)
		return;
	row->stack = e->stack;
	row->ip = e->ip;
	row->kernel_ip = e->kernel_ip;
}

static void add(struct row_block *block, const struct event_line *line, uint64_t number, struct row_cpus *cpus,
		const struct event_context *context)
{
	struct named_event event = named_event_of(context, line->kind, line->header, line->size_bytes, line->first_ns);
	struct event_row *row = &block->rows[block->count];

	if (line->argument)
		named_event_set_own(&event, *line->argument);
	*row = (struct event_row){
		.row = number,
		.time_ns = (int64_t)(event.time_ns - event.first_ns),
		.thread = event.thread,
		.cpu = row_cpus_find(cpus, &event),
	};
	put_who(row, &event);
	put_place(row, line->header);
	block->event_at[block->count] = block->words.length;
	text_printf(&block->words, "%s.%s", event.subsystem, event.event);
	text_put_bytes(&block->words, "", 1);
	block->text_at[block->count++] = block->words.length;
	event_line_put_fields(&block->words, line);
	text_put_bytes(&block->words, "", 1);
}

void row_block_fill(struct row_block *block, struct row_cursor *cursor, struct row_index *index, struct row_cpus *cpus,
		    const struct event_context *context, uint64_t row)
{
	uint64_t begin_ns = clock_ns();
	struct event_line line;
	int got = 0;

	block->first = row;
	block->count = block->words.length = 0;
	while (got >= 0 && block->count < ROW_BLOCK_ROWS && block->words.length < TEXT_BYTES_MAX &&
	       clock_ns() - begin_ns < FILL_NS_MAX && row < row_index_rows(index)) {
		got = got ? 1 : row_cursor_go(cursor, row);
		got = got < 0 ? got : row_cursor_next(cursor, &line, &row);
		if (got == 1)
			add(block, &line, row++, cpus, context);
	}
	for (size_t i = 0; i < block->count; i++) {
		block->rows[i].event = block->words.bytes + block->event_at[i];
		block->rows[i].text = block->words.bytes + block->text_at[i];
	}
}

bool row_block_has(const struct row_block *block, uint64_t row)
{
	return row >= block->first && row - block->first < block->count;
}

size_t row_block_bytes(const struct row_block *block)
{
	return block->words.capacity;
}

size_t row_block_get(const struct row_block *block, uint64_t row, size_t count_max, const struct event_row **out)
{
	size_t at = row - block->first, count = block->count - at;

	*out = &block->rows[at];
	return count < count_max ? count : count_max;
}
