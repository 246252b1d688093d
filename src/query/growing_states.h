/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of states of a trace that is still being written, made meanwhile: in a temporary file, for one run. Causes of waits that only
 * the names of functions tell are not known, since a trace has these at its end: then its history is made anew.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct growing_states;
struct states_waiter;

/*
 * eighths: of what a ring has, so much is left out at its begin (trace_reader_open_late()). -EBADMSG: there is no trace yet; or another negative
 * errno. Nothing is said.
 */
int growing_states_open(const char *trace_path, unsigned int eighths, struct growing_states **out);
void growing_states_close(struct growing_states *growing);

/*
 * Goes on for about budget_ns, with what is in the trace by now. 1: there is more; 0; -ECANCELED: the waiter, who takes his pauses; -ESTALE: the trace
 * has become shorter; or another negative errno. Nothing is said.
 */
int growing_states_step(struct growing_states *growing, uint64_t budget_ns, struct states_waiter *waiter);

/* All that was taken so far can be read from the file from here on. Returns whether that is more than before. 0, 1, or a negative errno. */
int growing_states_flush(struct growing_states *growing);

/* What states_open_growing() opens, as long as it is there. */
const char *growing_states_path(const struct growing_states *growing);

/* The writer of the trace has come to its end, as far as the last step saw. */
bool growing_states_is_ended(const struct growing_states *growing);

/* Whether the oldest part of the trace is overwritten when it has taken what it may. */
bool growing_states_are_of_ring(const struct growing_states *growing);

/*
 * Whether what a ring began with when it was opened was overwritten before it was read: then it is not known who threads are. It can be opened
 * again.
 */
bool growing_states_lack_begin(const struct growing_states *growing);

/* The time of the last event that was taken; CLOCK_MONOTONIC, 0: there is none. */
uint64_t growing_states_until_ns(const struct growing_states *growing);

/* Bytes of the trace, and of the history, by now. */
uint64_t growing_states_trace_bytes(const struct growing_states *growing);
uint64_t growing_states_bytes(const struct growing_states *growing);
