/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several streams of events, each by one pinch, as if one had traced all of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "derive/merge_source.h"

struct merge_events;
struct merge_peers;
struct space_numbers;
struct trace_writer;

struct merge_events *merge_events_new(struct merge_source *sources, size_t count, struct trace_writer *writer,
				      struct space_numbers *written, struct merge_peers *peers);
void merge_events_free(struct merge_events *merge);

/*
 * Writes all events except for the first and the last one, which the sources are left with. After end_ns (UINT64_MAX: there is no such
 * time), only what is about the time before.
 */
void merge_events_all(struct merge_events *merge, uint64_t end_ns);

/* The next one of the sources takes part, too. */
void merge_events_join(struct merge_events *merge);

/* While sources grow: whether there is an event up to until_ns, by now. */
bool merge_events_have(struct merge_events *merge, uint64_t until_ns);

/* Writes those events, as merge_events_all() does. What a source has later of that time is written as of the moment. */
void merge_events_until(struct merge_events *merge, uint64_t until_ns);

/* A source does not grow any more; now_ns: how late it is, by the clock of the events. Its threads are not traced any more if others' are. */
void merge_events_end(struct merge_events *merge, struct merge_source *source, uint64_t now_ns);
