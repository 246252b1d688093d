/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executions of a trace, of its span events. What system calls delimit, pairs by the descriptor; what a
 * function does, by where its return address lies: a stack, which an exception or a jump may leave.
 *
 * Owns: spans and their executions, with what each of these spent.
 * Used by: compare, view/trace, view/table, query, lanes, export, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spans/execution.h"
#include "spans/span.h"

struct ev_header;
struct execution_log;
struct session;

struct execution_log *execution_log_new(struct session *session);
void execution_log_free(struct execution_log *log);

/*
 * Also finds the executions between two events of a program's own: spec as own_span_parse() takes it, which is its name, too.
 * A span of that name that was recorded stays the only one. -ENOSPC: there are too many spans.
 */
int execution_log_add(struct execution_log *log, const char *spec);

/* Whether there are such spans: then they are found among the trace's events, which come in order, before the end. */
bool execution_log_wants_own(const struct execution_log *log);
void execution_log_take_own(struct execution_log *log, const struct ev_header *header);

/* The trace is at its end: what is begun has no end. lives: whether a thread did at the end. */
void execution_log_finish(struct execution_log *log, bool (*lives)(void *data, uint32_t thread), void *data);

/* The rest is for after that. By their beginnings, those of one moment the outer ones first. */
const struct executions *execution_log_all(const struct execution_log *log);
const struct span *execution_log_span(const struct execution_log *log, uint32_t number);
bool execution_log_has_gap(const struct execution_log *log, const struct execution *execution);
