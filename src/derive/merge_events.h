/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Several streams of events, each by one pinch, as if one had traced all of it. */
#pragma once

#include <stddef.h>

#include "derive/merge_source.h"

struct merge_events;
struct merge_peers;
struct space_numbers;
struct trace_writer;

struct merge_events *merge_events_new(struct merge_source *sources, size_t count, struct trace_writer *writer,
				      struct space_numbers *written, struct merge_peers *peers);
void merge_events_free(struct merge_events *merge);

/* Writes all events except for the first and the last one, which the sources are left with. */
void merge_events_all(struct merge_events *merge);
