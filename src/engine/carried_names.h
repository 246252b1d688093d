/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names go from one trace into another that has a part of its events. Code that a program generated has
 * its names by the number of the address space, which each reader counts by himself: both countings are
 * followed, and the numbers changed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct carried_names;
struct space_numbers;
struct table;
struct text;
struct trace_reader;
struct trace_writer;

/* The numbers of address spaces, as a reader of a stream counts them. */
struct space_numbers *space_numbers_new(void);
void space_numbers_free(struct space_numbers *numbers);
void space_numbers_follow(struct space_numbers *numbers, const struct ev_header *header);

/* Of one source. written: of the trace that they go into, borrowed. */
struct carried_names *carried_names_new(const struct space_numbers *written);
void carried_names_free(struct carried_names *names);

/* The same of a source whose numbers others follow, too: read is borrowed. */
struct carried_names *carried_names_new_of(struct space_numbers *read, const struct space_numbers *written);

/* Addresses in the kernel are less by so much in the trace that is made. */
void carried_names_shift_kernel(struct carried_names *names, uint64_t shift);

/* An event of the source, once what is written of it is. */
void carried_names_follow(struct carried_names *names, const struct ev_header *header);

/* What the trace knows about a process of the source, otherwise than by one of its events. */
void carried_names_pair(struct carried_names *names, uint32_t pid);

/* Puts names of the source, as far as they go along; false: they are damaged, and nothing is put. notes: see below. */
bool carried_names_change(const struct carried_names *names, const void *content, size_t size_bytes,
			  struct table *notes, struct text *out);

/* Writes names of the source, as far as they go along; false: they are damaged. notes: see below. */
bool carried_names_put(const struct carried_names *names, const void *content, size_t size_bytes,
		       struct trace_writer *writer, struct table *notes);

/*
 * Copies all chunks of names. notes: the sentences for the user that are in the trace already, each once,
 * by their hashes. Returns how many chunks are damaged and left out.
 */
size_t carried_names_copy(const struct carried_names *names, struct trace_reader *reader, struct trace_writer *writer,
			  struct table *notes);
