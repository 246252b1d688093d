/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stretch of the history of states: what every thread did when it began, and each change after that,
 * in time order. It can be read alone. On disk it is a chunk TRACE_CHUNK_STATES (doc/pinch-states.5).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "states/state.h"
#include "values.h"

struct state_columns;
struct text;

enum state_record_kind {
	RECORD_END,      /* the thread is no more, or nothing is known about it */
	RECORD_RUNNING,  /* value: the CPU, or CPUS_MAX: unknown */
	RECORD_SPINNING, /* the same */
	RECORD_RUNNABLE, /* value: a struct state_value */
	RECORD_BLOCKED,  /* the same */
	RECORD_WOKEN,    /* the same: who ended the wait that was over already */
	RECORD_OWNER,    /* no thread, but a CPU: value: the tid that has it, or an OWNER_ */
	RECORD_KINDS,
};

static inline enum state_kind state_kind_of_record(uint8_t record)
{
	switch (record) {
	case RECORD_RUNNING:
		return STATE_RUNNING;
	case RECORD_SPINNING:
		return STATE_SPINNING;
	case RECORD_RUNNABLE:
		return STATE_RUNNABLE;
	case RECORD_BLOCKED:
		return STATE_BLOCKED;
	}
	return STATE_UNKNOWN;
}

static inline bool state_is_on_cpu(uint8_t record)
{
	return record == RECORD_RUNNING || record == RECORD_SPINNING;
}

/* Whether the value of such a record is the place of one. */
static inline bool state_has_value(uint8_t record)
{
	return record == RECORD_RUNNABLE || record == RECORD_BLOCKED || record == RECORD_WOKEN;
}

/* A CPU has nobody; or somebody whom nothing says. */
enum { OWNER_IDLE = 0, OWNER_UNKNOWN = UINT32_MAX };

struct state_record {
	uint64_t time_ns;
	uint32_t who; /* a thread: its place in threads; or a CPU */
	uint32_t value;
	uint32_t waker; /* RUNNABLE, WOKEN: the place of who woke plus 1; 0: not traced */
	uint8_t kind;   /* enum state_record_kind */
};

/* What a thread does, or who has a CPU, when the block begins. */
struct state_origin {
	uint64_t since_ns; /* may be long before the block */
	uint32_t number;   /* of the thread, or the CPU */
	uint32_t value;
	uint32_t waker; /* RUNNABLE: the number of who woke; 0: not traced */
	uint8_t kind;   /* of the record that said it; RECORD_END: nothing is known */
};

struct state_block {
	uint64_t first_ns, last_ns; /* of its records */
	struct state_value *values; /* [0] is all zeros; thread is 0 in all */
	size_t value_count;
	struct state_origin *threads; /* all that have a state or a record */
	size_t thread_count;
	struct state_origin *owners; /* of CPUs that no traced thread had */
	size_t owner_count;
	struct state_record *records;
	size_t record_count;
};

/* Puts the bytes of a block. columns: empty, and so afterwards; they are there to be used again. */
void state_block_encode(const struct state_block *block, struct state_columns *columns, struct text *out);

/*
 * -EBADMSG: the bytes make no sense. Else the caller frees it with state_block_fini(); each index in it
 * leads to something, and times of records do not run backwards.
 */
int state_block_decode(const void *bytes, size_t size_bytes, struct state_block *out);

void state_block_fini(struct state_block *block);
