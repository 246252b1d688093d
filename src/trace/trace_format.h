/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace file: a header, and then chunks, each of which can be read alone. All numbers are
 * little-endian. doc/pinch-trace.5 describes it for others; these layouts are permanent.
 */
#pragma once

#include <stdint.h>

#define TRACE_MAGIC "\x89PINCH\r\n" /* reveals transfers that change bytes */

enum {
	TRACE_VERSION = 2,
	TRACE_CHUNK_MAGIC = 0x4b484350,   /* "PCHK" */
	TRACE_CHUNK_BYTES_MAX = 64 << 20, /* of a chunk, stored and unpacked */
	TRACE_THREAD_WORDS = 4,
};

struct trace_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes; /* of this header */
	uint64_t created_ns;   /* CLOCK_REALTIME */
	uint64_t random[2];    /* tells traces apart */
	uint64_t ring_bytes;   /* of a flight recorder, for events; 0: there is no limit */
	uint64_t last_ns;      /* it is about this time before its end; 0: about all it has */
	uint64_t checksum;     /* XXH64 of all before it */
};
_Static_assert(sizeof(struct trace_header) == 64, "this layout is the file format");

enum trace_chunk_kind {
	TRACE_CHUNK_LOST = 0,     /* in no file: a reader's word for what is not there any more */
	TRACE_CHUNK_INFO = 1,     /* JSON: the machine, the command, the schema of events */
	TRACE_CHUNK_FORMS = 2,    /* struct trace_form: what kinds of events look like */
	TRACE_CHUNK_EVENTS = 3,   /* event_code.h */
	TRACE_CHUNK_INDEX = 4,    /* struct trace_place of all chunks before it */
	TRACE_CHUNK_NAMES = 5,    /* what is known of addresses: symbol/answer/answer_book.h */
	TRACE_CHUNK_PROLOGUE = 6, /* events for who begins with this epoch */
	TRACE_CHUNK_KINDS,
	/* The history of states, which is a file of its own: states/states.h. */
	TRACE_CHUNK_STATES = 32,    /* states/state_block.h */
	TRACE_CHUNK_STATE_PLACES,   /* states/state_places.h */
	TRACE_CHUNK_STATE_SHARES,   /* states/share_log.h; count: the level */
	TRACE_CHUNK_STATE_GAPS,     /* struct state_gap */
	TRACE_CHUNK_ACTIVITIES,     /* states/activity.h */
	TRACE_CHUNK_ACTIVITY_NAMES, /* the same: of interrupts */
	TRACE_CHUNK_ORIGIN,         /* struct trace_origin: the trace that it was made of */
	TRACE_CHUNK_STATE_TOTALS,   /* states/state_total.h */
	TRACE_CHUNK_CPU_SHARES,     /* states/cpu_log.h; count: the level */
	TRACE_CHUNK_LATE_CAUSES,    /* states/late_causes.h */
	TRACE_CHUNK_STATE_THREADS,  /* states/thread_log.h; count: the first thread */
};

enum trace_chunk_flags {
	TRACE_CHUNK_BEGINS = 1,       /* a trace can begin with this chunk */
	TRACE_CHUNK_HAS_PROLOGUE = 2, /* all events with which an epoch begins are recorded */
	TRACE_CHUNK_HAS_SCHEMA = 4,   /* it has a user.SCHEMA */
};

enum trace_packing { TRACE_PLAIN = 0, TRACE_ZSTD = 1 };

struct trace_chunk {
	uint32_t magic;
	uint16_t kind;              /* enum trace_chunk_kind; unknown ones are skipped */
	uint16_t packing;           /* enum trace_packing */
	uint32_t stored_bytes;      /* that follow, filled up with zeros to a multiple of 8 */
	uint32_t plain_bytes;       /* unpacked */
	uint64_t first_ns, last_ns; /* of its events, CLOCK_MONOTONIC */
	uint32_t count;             /* of events */
	uint32_t trace;             /* the lower half of the header's random[0] */
	uint32_t number;            /* of the chunks of a trace, from 0 on */
	uint32_t flags;             /* enum trace_chunk_flags */
	uint64_t content_checksum;  /* XXH64 of what is stored */
	uint64_t checksum;          /* XXH64 of this header before it */
};
_Static_assert(sizeof(struct trace_chunk) == 64, "this layout is the file format");

struct trace_form {
	uint16_t subsys, event;
	uint32_t size_bytes; /* of the fixed part */
	uint32_t is_flexible;
	uint32_t reserved;
};
_Static_assert(sizeof(struct trace_form) == 16, "this layout is the file format");

struct trace_place {
	uint64_t offset; /* of the chunk in the file */
	uint64_t first_ns, last_ns;
	uint32_t count;
	uint16_t kind, flags;
	uint32_t number;
	uint32_t reserved;
	uint64_t threads[TRACE_THREAD_WORDS]; /* its events are about: bit n % 256 of thread n */
};
_Static_assert(sizeof(struct trace_place) == 72, "this layout is the file format");

/* What a history of states was made of, and how. */
struct trace_origin {
	uint64_t id[2];      /* of the trace: random in its header */
	uint64_t file_bytes; /* of the trace, which grows while it is written */
	uint64_t version;    /* of the way to make it */
};
_Static_assert(sizeof(struct trace_origin) == 32, "this layout is the file format");

/* The last bytes of a trace that was ended in order. */
struct trace_end {
	uint64_t index_offset; /* of the chunk with the index; 0: it has none */
	char magic[8];
};
_Static_assert(sizeof(struct trace_end) == 16, "this layout is the file format");
