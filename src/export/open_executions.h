/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of threads that are walked through in the order of time: which of them a state lies in. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct executions;
struct export_thread;
struct open_executions;

struct open_execution {
	uint32_t number;            /* its place in the list */
	uint32_t parent, outermost; /* places of those that it lies in; the outermost may be itself */
	bool has_parent;
};

/* on_open: hears of each execution once, when a state of its thread lies in it first. The list is borrowed. */
struct open_executions *open_executions_new(const struct executions *all,
					    void (*on_open)(void *data, const struct export_thread *thread,
							    const struct open_execution *opened),
					    void *data);
void open_executions_free(struct open_executions *open);

/*
 * The innermost execution that a state lies in; states of a thread come in the order of time. NULL: there is none. An execution that went from
 * thread to thread has no states, for it is not known when. Valid until the next call.
 */
const struct open_execution *open_executions_find(struct open_executions *open, const struct export_thread *thread,
						  uint64_t begin_ns, uint64_t end_ns);
