/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record takes few bytes, for much of it follows from those before: who leaves a CPU is who had it, who
 * gets one gets that which was just left, at the same time; who wakes runs; and a thread often waits for
 * what it waited for before, and is woken as others were that waited for the same. Both sides follow who
 * has which CPU to know that.
 */
#include "states/state_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "states/state_columns.h"

enum op {
	OP_KIND = 7,
	OP_ON_CPU = 8,    /* the thread is given by the CPU that it has */
	OP_SAME_CPU = 16, /* it gets the CPU that the record before was about */
	OP_SAME_TIME = 32,
	OP_SAME_VALUE = 64, /* what it waits for, or why it can run, is as expected */
};

enum waker_code {
	WAKER_UNTRACED,
	WAKER_PLACE, /* its place follows */
	WAKER_CPUS,  /* from here on: it has the CPU of this number */
};

enum { NOBODY = UINT32_MAX, NO_CPU = UINT32_MAX };

enum { VALUE_BYTES_MIN = 14, ORIGIN_BYTES_MIN = 5 };

/* --- What both sides follow ----------------------------------------------------------------- */

struct follower {
	uint32_t *cpu_of;    /* by place: NO_CPU */
	uint32_t *last_wait; /* by place: a value */
	uint32_t *last_wake; /* by what was waited for, 0: by who had a CPU: a value */
	uint32_t *thread_on; /* by CPU: a place, or NOBODY */
	uint32_t last_cpu;   /* that a thread left or got last */
	uint64_t now_ns;
};

static void take_cpu(struct follower *f, uint32_t place, uint32_t cpu)
{
	if (cpu >= CPUS_MAX)
		return;
	f->cpu_of[place] = cpu;
	f->thread_on[cpu] = place;
	f->last_cpu = cpu;
}

static void follower_init(struct follower *f, const struct state_block *block)
{
	size_t count = block->thread_count;

	*f = (struct follower){
		.cpu_of = xcalloc(count + 1, sizeof(*f->cpu_of)),
		.last_wait = xcalloc(count + 1, sizeof(*f->last_wait)),
		.last_wake = xcalloc(block->value_count + 1, sizeof(*f->last_wake)),
		.thread_on = xcalloc(CPUS_MAX, sizeof(*f->thread_on)),
		.last_cpu = NO_CPU,
		.now_ns = block->first_ns,
	};
	memset(f->cpu_of, 0xff, count * sizeof(*f->cpu_of));
	memset(f->thread_on, 0xff, CPUS_MAX * sizeof(*f->thread_on));
	for (size_t i = 0; i < count; i++) {
		const struct state_origin *origin = &block->threads[i];

		if (state_is_on_cpu(origin->kind))
			take_cpu(f, i, origin->value);
		else if (origin->kind == RECORD_BLOCKED)
			f->last_wait[i] = origin->value;
	}
}

static void follower_fini(struct follower *f)
{
	free(f->cpu_of);
	free(f->last_wait);
	free(f->last_wake);
	free(f->thread_on);
}

/* The CPU that a thread has, as far as no other one was seen to get it since; or NO_CPU. */
static uint32_t cpu_of(const struct follower *f, uint32_t place)
{
	uint32_t cpu = f->cpu_of[place];

	return cpu != NO_CPU && f->thread_on[cpu] == place ? cpu : NO_CPU;
}

/* The value that a record of the thread would have if it were like those before; NULL: none is expected. */
static uint32_t *expected_value(const struct follower *f, uint8_t kind, uint32_t who)
{
	switch (kind) {
	case RECORD_BLOCKED:
		return &f->last_wait[who];
	case RECORD_RUNNABLE:
		return &f->last_wake[cpu_of(f, who) != NO_CPU ? 0 : f->last_wait[who]];
	default:
		return NULL;
	}
}

static void follow(struct follower *f, const struct state_record *record)
{
	uint32_t *expected;
	uint32_t cpu;

	f->now_ns = record->time_ns;
	if (record->kind == RECORD_OWNER || record->kind == RECORD_WOKEN)
		return;
	expected = expected_value(f, record->kind, record->who);
	if (expected)
		*expected = record->value;
	cpu = cpu_of(f, record->who);
	if (cpu != NO_CPU) {
		f->thread_on[cpu] = NOBODY;
		f->last_cpu = cpu;
	}
	f->cpu_of[record->who] = NO_CPU;
	if (state_is_on_cpu(record->kind))
		take_cpu(f, record->who, record->value);
}

/* --- To bytes ------------------------------------------------------------------------------- */

static void put_value(struct state_columns *columns, const struct state_value *value)
{
	column_put(columns, COLUMN_HEAD, value->why);
	column_put(columns, COLUMN_HEAD, value->how);
	column_put(columns, COLUMN_HEAD, value->syscall);
	column_put(columns, COLUMN_HEAD, value->operation);
	column_put(columns, COLUMN_HEAD, value->tid);
	column_put(columns, COLUMN_HEAD, value->object);
	column_put_word(columns, COLUMN_HEAD, value->stack);
}

static void put_origins(struct state_columns *columns, const struct state_origin *origins, size_t count,
			uint64_t first_ns)
{
	uint32_t before = 0;

	for (size_t i = 0; i < count; i++) {
		column_put_signed(columns, COLUMN_HEAD, (int64_t)origins[i].number - before);
		before = origins[i].number;
		column_put(columns, COLUMN_HEAD, origins[i].kind);
		column_put(columns, COLUMN_HEAD, origins[i].value);
		column_put(columns, COLUMN_HEAD, origins[i].waker);
		column_put(columns, COLUMN_HEAD, origins[i].kind == RECORD_END ? 0 : first_ns - origins[i].since_ns);
	}
}

static void put_head(struct state_columns *columns, const struct state_block *block)
{
	column_put(columns, COLUMN_HEAD, block->first_ns);
	column_put(columns, COLUMN_HEAD, block->last_ns - block->first_ns);
	column_put(columns, COLUMN_HEAD, block->value_count);
	column_put(columns, COLUMN_HEAD, block->thread_count);
	column_put(columns, COLUMN_HEAD, block->owner_count);
	column_put(columns, COLUMN_HEAD, block->record_count);
	for (size_t i = 1; i < block->value_count; i++)
		put_value(columns, &block->values[i]);
	put_origins(columns, block->threads, block->thread_count, block->first_ns);
	put_origins(columns, block->owners, block->owner_count, block->first_ns);
}

static void put_waker(struct state_columns *columns, const struct follower *f, uint32_t waker)
{
	uint32_t cpu = waker ? cpu_of(f, waker - 1) : NO_CPU;

	if (cpu != NO_CPU) {
		column_put(columns, COLUMN_WAKERS, (uint64_t)WAKER_CPUS + cpu);
		return;
	}
	column_put(columns, COLUMN_WAKERS, waker ? WAKER_PLACE : WAKER_UNTRACED);
	if (waker)
		column_put(columns, COLUMN_WAKERS, waker - 1);
}

static void put_who(struct state_columns *columns, const struct follower *f, const struct state_record *record,
		    unsigned int op)
{
	if (op & OP_ON_CPU)
		column_put(columns, COLUMN_CPUS, cpu_of(f, record->who));
	else if (record->kind == RECORD_OWNER)
		column_put(columns, COLUMN_CPUS, record->who);
	else
		column_put(columns, state_is_on_cpu(record->kind) ? COLUMN_RUNNERS : COLUMN_THREADS, record->who);
}

static void put_what(struct state_columns *columns, const struct follower *f, const struct state_record *record,
		     unsigned int op)
{
	switch (record->kind) {
	case RECORD_RUNNING:
	case RECORD_SPINNING:
		if (!(op & OP_SAME_CPU))
			column_put(columns, COLUMN_CPUS, record->value);
		break;
	case RECORD_BLOCKED:
		if (!(op & OP_SAME_VALUE))
			column_put(columns, COLUMN_WAITS, record->value);
		break;
	case RECORD_RUNNABLE:
	case RECORD_WOKEN:
		if (!(op & OP_SAME_VALUE))
			column_put(columns, COLUMN_WAKES, record->value);
		put_waker(columns, f, record->waker);
		break;
	case RECORD_OWNER:
		column_put(columns, COLUMN_OWNERS, record->value);
		break;
	}
}

static unsigned int op_of(const struct follower *f, const struct state_record *record)
{
	unsigned int op = record->kind;
	const uint32_t *expected;

	if (record->time_ns == f->now_ns)
		op |= OP_SAME_TIME;
	if (record->kind == RECORD_OWNER)
		return op;
	if (cpu_of(f, record->who) != NO_CPU)
		op |= OP_ON_CPU;
	if (state_is_on_cpu(record->kind) && record->value == f->last_cpu)
		op |= OP_SAME_CPU;
	expected = expected_value(f, record->kind, record->who);
	if (expected && record->value == *expected)
		op |= OP_SAME_VALUE;
	return op;
}

static void put_records(struct state_columns *columns, const struct state_block *block)
{
	struct follower f;

	follower_init(&f, block);
	for (size_t i = 0; i < block->record_count; i++) {
		const struct state_record *record = &block->records[i];
		uint64_t distance = record->time_ns - f.now_ns;
		unsigned int op = op_of(&f, record);

		column_put_byte(columns, COLUMN_OPS, op);
		if (!(op & OP_SAME_TIME)) {
			column_put_byte(columns, COLUMN_TIMES_LOW, distance);
			column_put(columns, COLUMN_TIMES_HIGH, distance >> 8);
		}
		put_who(columns, &f, record, op);
		put_what(columns, &f, record, op);
		follow(&f, record);
	}
	follower_fini(&f);
}

void state_block_encode(const struct state_block *block, struct state_columns *columns, struct text *out)
{
	put_head(columns, block);
	put_records(columns, block);
	state_columns_pack(columns, out);
}

/* --- From bytes ----------------------------------------------------------------------------- */

static int64_t get_signed(struct byte_cursor *cursor)
{
	uint64_t value = byte_cursor_uleb(cursor);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

static struct state_value get_value(struct byte_cursor *cursor)
{
	struct state_value value = { .why = byte_cursor_uleb(cursor) };

	value.how = byte_cursor_uleb(cursor);
	value.syscall = byte_cursor_uleb(cursor);
	value.operation = byte_cursor_uleb(cursor);
	value.tid = byte_cursor_uleb(cursor);
	value.object = byte_cursor_uleb(cursor);
	value.stack = byte_cursor_number(cursor, sizeof(value.stack));
	return value;
}

/* Each but the first ones takes so many bytes at least: what cannot be there is not made space for. */
static void *grow_for(struct byte_cursor *cursor, size_t *count, size_t size_bytes, size_t first_count,
		      size_t least_bytes)
{
	if (*count > first_count + byte_cursor_left(cursor) / least_bytes) {
		byte_cursor_fail(cursor);
		*count = 0;
	}
	return xcalloc(*count + !*count, size_bytes);
}

static void get_origins(struct byte_cursor *cursor, const struct state_block *block, struct state_origin *origins,
			size_t count)
{
	uint32_t number = 0;

	for (size_t i = 0; i < count; i++) {
		struct state_origin *origin = &origins[i];

		number += get_signed(cursor);
		origin->number = number;
		origin->kind = byte_cursor_uleb(cursor);
		origin->value = byte_cursor_uleb(cursor);
		origin->waker = byte_cursor_uleb(cursor);
		origin->since_ns = block->first_ns - byte_cursor_uleb(cursor);
		if (origin->kind >= RECORD_KINDS || origin->since_ns > block->first_ns ||
		    (state_has_value(origin->kind) && origin->value >= block->value_count))
			byte_cursor_fail(cursor);
	}
}

static void get_head(struct open_columns *columns, struct state_block *block)
{
	struct byte_cursor *cursor = &columns->of[COLUMN_HEAD], *ops = &columns->of[COLUMN_OPS];

	block->first_ns = byte_cursor_uleb(cursor);
	block->last_ns = block->first_ns + byte_cursor_uleb(cursor);
	block->value_count = byte_cursor_uleb(cursor);
	block->thread_count = byte_cursor_uleb(cursor);
	block->owner_count = byte_cursor_uleb(cursor);
	block->record_count = byte_cursor_uleb(cursor);
	if (!block->value_count || block->last_ns < block->first_ns)
		byte_cursor_fail(cursor);
	block->values = grow_for(cursor, &block->value_count, sizeof(*block->values), 1, VALUE_BYTES_MIN);
	for (size_t i = 1; i < block->value_count; i++)
		block->values[i] = get_value(cursor);
	block->threads = grow_for(cursor, &block->thread_count, sizeof(*block->threads), 0, ORIGIN_BYTES_MIN);
	get_origins(cursor, block, block->threads, block->thread_count);
	block->owners = grow_for(cursor, &block->owner_count, sizeof(*block->owners), 0, ORIGIN_BYTES_MIN);
	get_origins(cursor, block, block->owners, block->owner_count);
	block->records = grow_for(ops, &block->record_count, sizeof(*block->records), 0, 1);
}

static uint64_t get_time(struct open_columns *columns, const struct follower *f, unsigned int op)
{
	uint64_t low;

	if (op & OP_SAME_TIME)
		return f->now_ns;
	low = byte_cursor_u8(&columns->of[COLUMN_TIMES_LOW]);
	return f->now_ns + low + (byte_cursor_uleb(&columns->of[COLUMN_TIMES_HIGH]) << 8);
}

static uint32_t get_who(struct open_columns *columns, const struct follower *f, uint8_t kind, unsigned int op)
{
	enum state_column column = COLUMN_THREADS;
	uint64_t cpu;

	if (op & OP_ON_CPU) {
		cpu = byte_cursor_uleb(&columns->of[COLUMN_CPUS]);
		return cpu < CPUS_MAX ? f->thread_on[cpu] : NOBODY;
	}
	if (kind == RECORD_OWNER)
		column = COLUMN_CPUS;
	else if (state_is_on_cpu(kind))
		column = COLUMN_RUNNERS;
	return byte_cursor_uleb(&columns->of[column]);
}

static uint32_t get_waker(struct open_columns *columns, const struct follower *f)
{
	uint64_t code = byte_cursor_uleb(&columns->of[COLUMN_WAKERS]);

	if (code == WAKER_UNTRACED)
		return 0;
	if (code == WAKER_PLACE)
		return byte_cursor_uleb(&columns->of[COLUMN_WAKERS]) + 1;
	code -= WAKER_CPUS;
	return code < CPUS_MAX ? f->thread_on[code] + 1 : NOBODY;
}

static void get_what(struct open_columns *columns, const struct follower *f, struct state_record *record,
		     unsigned int op)
{
	const uint32_t *expected = expected_value(f, record->kind, record->who);

	switch (record->kind) {
	case RECORD_RUNNING:
	case RECORD_SPINNING:
		record->value = op & OP_SAME_CPU ? f->last_cpu : byte_cursor_uleb(&columns->of[COLUMN_CPUS]);
		break;
	case RECORD_BLOCKED:
		record->value =
			expected && op & OP_SAME_VALUE ? *expected : byte_cursor_uleb(&columns->of[COLUMN_WAITS]);
		break;
	case RECORD_RUNNABLE:
	case RECORD_WOKEN:
		record->value =
			expected && op & OP_SAME_VALUE ? *expected : byte_cursor_uleb(&columns->of[COLUMN_WAKES]);
		record->waker = get_waker(columns, f);
		break;
	case RECORD_OWNER:
		record->value = byte_cursor_uleb(&columns->of[COLUMN_OWNERS]);
		break;
	}
}

static bool get_record(struct open_columns *columns, const struct follower *f, const struct state_block *block,
		       struct state_record *record)
{
	unsigned int op = byte_cursor_u8(&columns->of[COLUMN_OPS]);

	record->kind = op & OP_KIND;
	record->time_ns = get_time(columns, f, op);
	record->who = get_who(columns, f, record->kind, op);
	if (record->kind >= RECORD_KINDS || record->time_ns < f->now_ns || record->time_ns > block->last_ns ||
	    (record->kind != RECORD_OWNER && record->who >= block->thread_count))
		return false;
	get_what(columns, f, record, op);
	return (!state_has_value(record->kind) || record->value < block->value_count) &&
	       record->waker <= block->thread_count;
}

static bool get_records(struct open_columns *columns, struct state_block *block)
{
	bool is_good = true;
	struct follower f;

	follower_init(&f, block);
	for (size_t i = 0; i < block->record_count && is_good; i++) {
		is_good = get_record(columns, &f, block, &block->records[i]);
		if (is_good)
			follow(&f, &block->records[i]);
	}
	follower_fini(&f);
	for (unsigned int i = 0; i < COLUMNS; i++)
		is_good &= !columns->of[i].is_bad && !byte_cursor_left(&columns->of[i]);
	return is_good;
}

int state_block_decode(const void *bytes, size_t size_bytes, struct state_block *out)
{
	struct state_block block = { 0 };
	struct open_columns columns;
	int err = state_columns_unpack(bytes, size_bytes, &columns);

	if (err)
		return err;
	get_head(&columns, &block);
	if (columns.of[COLUMN_HEAD].is_bad || !get_records(&columns, &block)) {
		state_block_fini(&block);
		err = -EBADMSG;
	}
	open_columns_fini(&columns);
	*out = block;
	return err;
}

void state_block_fini(struct state_block *block)
{
	free(block->values);
	free(block->threads);
	free(block->owners);
	free(block->records);
	*block = (struct state_block){ 0 };
}
