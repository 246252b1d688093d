/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the history of states from the events of a trace. What waits are called decides about their causes, and frames of a stack may
 * stand behind the wait that names it: stacks are taken first, of as much of the trace as there is, or of what lies ahead.
 */
#pragma once

#include <stdbool.h>

struct ev_header;
struct states_making;
struct trace_reader;
struct trace_writer;

/* The writer is borrowed. opens_files: see symbols_set_offline(). */
struct states_making *states_making_new(struct trace_writer *writer, bool opens_files);
void states_making_free(struct states_making *making);

/* What the trace knows of addresses, before its events. */
void states_making_take_names(struct states_making *making, struct trace_reader *trace);

/* An event of the trace, for its stack; others are ignored. */
void states_making_take_stack(struct states_making *making, const struct ev_header *header);

/* The next event. What others need to know to read the states is written, too. */
void states_making_take(struct states_making *making, const struct ev_header *header);

/* Whether a wait named a stack before its frames were taken: its cause may be another one. */
bool states_making_has_late_stacks(const struct states_making *making);

/* Whether a flush costs little: see state_log_is_between_blocks(). */
bool states_making_is_between_blocks(const struct states_making *making);

/* All that was taken is in the file: see state_log_flush(). */
void states_making_flush(struct states_making *making);

/* All states end, and what is left is written. Errors are the writer's. */
void states_making_finish(struct states_making *making);
