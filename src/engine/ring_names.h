/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names at the end of a flight recorder's trace: address spaces, by whose numbers code that a program
 * generated has its names, are counted again by readers, from the epoch on with which they begin.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct ring_names;
struct table;
struct text;

struct ring_names *ring_names_new(void);
void ring_names_free(struct ring_names *names);

/* An epoch begins, which is repeated these events. */
void ring_names_begin(struct ring_names *names, uint64_t time_ns);
void ring_names_repeat(struct ring_names *names, const struct ev_header *header);

/* An event of the trace. */
void ring_names_follow(struct ring_names *names, const struct ev_header *header);

/*
 * Puts names, for readers who begin with the epoch of this time, behind what is in out: names of code that a program generated are left out unless there is such an
 * epoch. notes: the sentences that these readers have already. False: the names are damaged, and nothing is put.
 */
bool ring_names_change(const struct ring_names *names, uint64_t begin_ns, const void *content, size_t size_bytes,
		       struct table *notes, struct text *out);
