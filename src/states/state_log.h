/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the history of states while events go by: blocks of changes, and what leads to the right block.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "states/state.h"

struct files;
struct others;
struct session;
struct state_listener;
struct state_log;
struct thread;
struct threads;
struct trace_writer;

struct state_log_options {
	struct threads *threads;
	const struct files *files;
	const struct others *others;
	/* What the functions on the stack of a wait say of its cause; NULL: they are not asked. */
	enum wait_cause (*cause_of)(void *data, const struct thread *thread, uint64_t time_ns, uint64_t stack,
				    const struct wait_facts *facts, enum wait_cause cause);
	void *cause_data;
};

struct state_log *state_log_new(struct trace_writer *writer, const struct state_log_options *options);

/* For the analysis that decides what threads do. */
const struct state_listener *state_log_listener(struct state_log *log);

/* After that analysis has subscribed: it is the first to hear of an event. */
void state_log_subscribe(struct state_log *log, struct session *session);

/*
 * Writes all that is known by now, so that a reader of the unfinished file has it (states_grow()). For each living thread it costs a few
 * bytes in the file.
 */
void state_log_flush(struct state_log *log);

/* Whether the last block has just ended: a flush then makes no block shorter. */
bool state_log_is_between_blocks(const struct state_log *log);

/* All states end, or last until end_ns; writes what is left. Errors are the writer's. */
void state_log_finish(struct state_log *log, uint64_t end_ns);
void state_log_free(struct state_log *log);
