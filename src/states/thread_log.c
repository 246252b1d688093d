/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/thread_log.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "states/share_cells.h"
#include "states/state_block.h"
#include "trace/trace_writer.h"

enum {
	CHANGES_MIN = 1 << 20, /* of a window, and more for more threads, for each window has all of them */
	CHANGES_A_THREAD = 16,
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
};

/* From its time on, the thread spends its time so. */
struct thread_change {
	uint64_t time_ns;
	uint32_t thread;
	uint8_t share;  /* as state_share() has it, or SHARE_ABSENT */
	bool is_origin; /* it was so when the window began */
};

struct thread_log {
	struct trace_writer *writer;
	struct thread_change *changes, *sorted;
	size_t count, capacity, sorted_capacity;
	size_t first_block, block_count;
	uint64_t first_ns, last_ns;
	struct text bytes, thread_bytes;
};

struct thread_log *thread_log_new(struct trace_writer *writer)
{
	struct thread_log *log = xcalloc(1, sizeof(*log));

	log->writer = writer;
	return log;
}

void thread_log_free(struct thread_log *log)
{
	if (!log)
		return;
	free(log->changes);
	free(log->sorted);
	text_fini(&log->bytes);
	text_fini(&log->thread_bytes);
	free(log);
}

/* --- Writing a window ----------------------------------------------------------------------- */

/* By a digit of their threads; those with the same one stay in order. */
static void sort_by_digit(struct thread_log *log, unsigned int shift)
{
	size_t starts[DIGITS + 1] = { 0 };
	struct thread_change *unsorted = log->changes;
	size_t capacity = log->capacity;

	for (size_t i = 0; i < log->count; i++)
		starts[(log->changes[i].thread >> shift & (DIGITS - 1)) + 1]++;
	for (size_t digit = 0; digit < DIGITS; digit++)
		starts[digit + 1] += starts[digit];
	for (size_t i = 0; i < log->count; i++)
		log->sorted[starts[log->changes[i].thread >> shift & (DIGITS - 1)]++] = log->changes[i];
	log->changes = log->sorted;
	log->capacity = log->sorted_capacity;
	log->sorted = unsorted;
	log->sorted_capacity = capacity;
}

static void sort_by_thread(struct thread_log *log)
{
	uint32_t used = 0;

	for (size_t i = 0; i < log->count; i++)
		used |= log->changes[i].thread;
	if (log->sorted_capacity < log->count) {
		log->sorted = xrealloc(log->sorted, log->capacity, sizeof(*log->sorted));
		log->sorted_capacity = log->capacity;
	}
	for (unsigned int shift = 0; shift < 32 && used >> shift; shift += DIGIT_BITS)
		sort_by_digit(log, shift);
}

/* The number minus that of the thread before; what it does when the window begins, and since when; its changes with their size. */
static void put_thread(struct thread_log *log, const struct thread_change *changes, size_t count, uint32_t before)
{
	const struct thread_change *origin = changes->is_origin ? changes : NULL;
	struct text *own = &log->thread_bytes;
	uint64_t at_ns = log->first_ns;

	own->length = 0;
	for (size_t i = origin ? 1 : 0; i < count; i++) {
		text_put_varint(own, changes[i].time_ns - at_ns);
		text_put_varint(own, changes[i].share);
		at_ns = changes[i].time_ns;
	}
	text_put_varint(&log->bytes, changes->thread - before);
	text_put_varint(&log->bytes, origin ? origin->share : SHARE_ABSENT);
	text_put_varint(&log->bytes, origin ? log->first_ns - origin->time_ns : 0);
	text_put_varint(&log->bytes, own->length);
	text_put_bytes(&log->bytes, own->bytes, own->length);
}

/* Puts a chunk of threads from the change at `from` on. Returns the first change that is not in it. */
static size_t put_group(struct thread_log *log, size_t from)
{
	struct trace_span span = { log->first_ns, log->last_ns, log->changes[from].thread };
	uint32_t before = 0;
	size_t end;

	log->bytes.length = 0;
	text_put_varint(&log->bytes, log->first_block);
	text_put_varint(&log->bytes, log->block_count);
	for (unsigned int i = 0; i < THREAD_LOG_GROUP && from < log->count; i++, from = end) {
		uint32_t thread = log->changes[from].thread;

		for (end = from + 1; end < log->count && log->changes[end].thread == thread;)
			end++;
		put_thread(log, &log->changes[from], end - from, before);
		before = thread;
	}
	trace_writer_chunk(log->writer, TRACE_CHUNK_STATE_THREADS, log->bytes.bytes, log->bytes.length, &span);
	return from;
}

static void put_window(struct thread_log *log)
{
	sort_by_thread(log);
	for (size_t at = 0; at < log->count;)
		at = put_group(log, at);
	log->count = log->block_count = 0;
}

/* --- Blocks --------------------------------------------------------------------------------- */

static void add(struct thread_log *log, struct thread_change change)
{
	ARRAY_GROW(log->changes, log->count, log->capacity, CHANGES_MIN);
	log->changes[log->count++] = change;
}

static uint8_t share_of(const struct state_block *block, uint8_t kind, uint32_t value)
{
	if (kind == RECORD_END)
		return SHARE_ABSENT;
	return state_share(state_kind_of_record(kind), kind == RECORD_BLOCKED ? block->values[value].why : 0);
}

static void begin_window(struct thread_log *log, const struct state_block *block, size_t number)
{
	log->first_block = number;
	log->first_ns = block->first_ns;
	for (size_t i = 0; i < block->thread_count; i++) {
		const struct state_origin *origin = &block->threads[i];

		if (origin->kind != RECORD_END)
			add(log, (struct thread_change){ origin->since_ns, origin->number,
							 share_of(block, origin->kind, origin->value), true });
	}
}

void thread_log_add(struct thread_log *log, const struct state_block *block, size_t number)
{
	if (block->thread_count < THREAD_LOG_THREADS_MIN) {
		thread_log_finish(log);
		return;
	}
	if (!log->block_count)
		begin_window(log, block, number);
	for (size_t i = 0; i < block->record_count; i++) {
		const struct state_record *record = &block->records[i];

		if (record->kind != RECORD_WOKEN && record->kind != RECORD_OWNER)
			add(log, (struct thread_change){ record->time_ns, block->threads[record->who].number,
							 share_of(block, record->kind, record->value), false });
	}
	log->block_count++;
	log->last_ns = block->last_ns;
	if (log->count >= CHANGES_MIN && log->count >= block->thread_count * CHANGES_A_THREAD)
		put_window(log);
}

void thread_log_finish(struct thread_log *log)
{
	if (log->block_count > 1)
		put_window(log);
	log->count = log->block_count = 0;
}
