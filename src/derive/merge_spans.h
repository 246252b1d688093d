/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spans of several traces: those that are called and delimited alike are one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "values.h"

struct merge_source;
struct merge_thread;

/* The caller owns the struct. */
struct merge_spans {
	struct ev_span_name *list[SPANS_MAX]; /* NULL: none */
};

void merge_spans_fini(struct merge_spans *spans);

/*
 * The number in the trace that is made of the source's span that is named; -1: it has one already, or there
 * is no space.
 */
int merge_spans_add(struct merge_spans *spans, struct merge_source *source, const struct ev_span_name *name);

/*
 * The same of a source's beginning or end of a task; -1: it is not written. Of two sources that have the same
 * span, the one that speaks for the thread decides.
 */
int merge_spans_find(const struct merge_source *source, const struct merge_thread *thread, uint32_t span);
