/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known of addresses, kept for each trace of a run, at whose end it is told. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct ring_names;
struct stream_names;
struct symbols;

struct stream_names *stream_names_new(void);
void stream_names_free(struct stream_names *names);

/* Takes what was learnt since the last time. */
void stream_names_take(struct stream_names *names, struct symbols *symbols);

/* Gives all of it, part by part, for readers who began with the epoch of this time; epochs: NULL: with the run. */
void stream_names_put(const struct stream_names *names, const struct ring_names *epochs, uint64_t begin_ns,
		      void (*put)(void *data, const void *names, size_t size_bytes), void *data);
