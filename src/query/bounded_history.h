/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of states of a trace that is still being written, made meanwhile (growing_states.h), and bounded where the trace is a flight
 * recorder's. A history of all that there ever was would grow without end beside a ring: when it takes twice what the ring takes, a second
 * one is begun, which has what the ring still has. Both grow until the second one knows as much as the first one of the latest events; then
 * it takes the first one's place. Where the machine is too slow for both, the first one stands still meanwhile.
 *
 * Both together take about 4 times what the ring takes, or 2 times that and once more the history of a full ring.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bounded_history;
struct growing_states;
struct states_waiter;

/* ring_bytes: what the trace may take; 0: nobody says, then of a ring what it takes. Returns as growing_states_open(). */
int bounded_history_open(const char *trace_path, uint64_t ring_bytes, struct bounded_history **out);
void bounded_history_close(struct bounded_history *history);

/*
 * Goes on as growing_states_step() does, each of the two if there are two. Returns as growing_states_step(), of the one that is used: 1 also as long as that
 * stands still. Where the second one fails, or the ring overwrites its begin before that was
 * read, the first one goes on alone, and another one is begun with the next step.
 */
int bounded_history_step(struct bounded_history *history, uint64_t budget_ns, struct states_waiter *waiter);

/* The one that is used. It lives until bounded_history_replace() or the end. */
struct growing_states *bounded_history_used(const struct bounded_history *history);

/* The one that can take its place now; NULL: there is none. */
struct growing_states *bounded_history_next(const struct bounded_history *history);

/* The next one takes its place. What others have open of the file before stays readable to them; its bytes are free when they close it. */
void bounded_history_replace(struct bounded_history *history);

/* Of the one that is used and the next one. */
uint64_t bounded_history_bytes(const struct bounded_history *history);
