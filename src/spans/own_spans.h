/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions between events of programs' own (own/own_span.h): perhaps of several threads, the one that it began in and the last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "spans/execution.h"
#include "spans/span.h"

struct own_spans;

/* What is found goes to all, and is counted in spans[SPANS_MAX]; both are borrowed. */
struct own_spans *own_spans_new(struct executions *all, struct span *spans);
void own_spans_free(struct own_spans *own);

/* spec: as own_span_parse() takes it; what it does not take is no span. */
void own_spans_add(struct own_spans *own, uint32_t number, const char *spec);

/* Whether any was added. */
bool own_spans_are_wanted(const struct own_spans *own);

/* Takes an event of any kind in, in time order: those of others are ignored. */
void own_spans_take(struct own_spans *own, const struct ev_header *header);

/* The events are at their end: what is begun has no end. */
void own_spans_finish(struct own_spans *own, bool (*lives)(void *data, uint32_t thread), void *data);
