/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the chunks of a trace are, in the order in which they were written: by its index, or by what is
 * found in the file. How a flight recorder's epochs begin is left out, except for the one with which the trace
 * begins; what was repeated is TRACE_CHUNK_EVENTS here. Chunks that are missing are a TRACE_CHUNK_LOST.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace_format.h"

struct trace_file;

/* In trace_place.reserved of those: what was recorded before need not be repeated. */
enum { TRACE_PLACE_PROLOGUE = 1 };

struct trace_places {
	struct trace_place *list;
	size_t count, capacity;
	uint64_t unread_bytes; /* behind the last chunk */
	bool is_ended;         /* the writer came to its end */
	bool begins_late;      /* what a flight recorder wrote earlier is not kept */
	/* Where the trace may go on: behind the last chunk, whose number is one less; times end at until_ns. */
	uint64_t end, until_ns;
	uint32_t next_number;
	uint64_t looked_ns; /* trace_file.written_ns when all of a ring was looked through */
	bool is_beginning;  /* of another epoch: not for who reads from the beginning on */
};

/* eighths: of what a flight recorder's trace has, so much is left out at its begin, if it can begin later. */
void trace_places_find(struct trace_places *places, struct trace_file *file, unsigned int eighths);

/* The file has grown, and trace_file.size_bytes says so: adds what is whole of it. Of a trace that was not at its end. */
void trace_places_grow(struct trace_places *places, const struct trace_file *file);
void trace_places_fini(struct trace_places *places);

void trace_places_add(struct trace_places *places, const struct trace_place *place);

/* Of the bits of two places: whether a thread may be in both. */
static inline bool trace_places_may_share(const struct trace_place *one, const struct trace_place *other)
{
	for (int i = 0; i < TRACE_THREAD_WORDS; i++)
		if (one->threads[i] & other->threads[i])
			return true;
	return false;
}

/* Sets the one of the bits that a thread is in. */
static inline void trace_place_note_thread(struct trace_place *place, uint32_t thread)
{
	place->threads[thread / 64 % TRACE_THREAD_WORDS] |= 1ull << thread % 64;
}
