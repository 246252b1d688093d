/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The history of states of a trace, made when it is first wanted and kept beside the trace, with what is
 * known of threads, files and addresses. The caller owns the struct.
 *
 * Owns: what commands ask of a trace: its history, threads, ranges and spans.
 * Used by: lanes, rows, export, derive, show, live, serve, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct ev_collect_end;
struct ev_collect_run;
struct event_context;
struct execution_log;
struct files;
struct hosts;
struct klocks;
struct fold_rules;
struct graph_labels;
struct others;
struct path_names;
struct session;
struct stacks;
struct states;
struct states_waiter;
struct symbols;
struct threads;

struct trace_states {
	struct states *states;
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct files *files;
	struct klocks *klocks;
	struct others *others;
	struct hosts *hosts;
	struct event_context *context; /* who threads, processes and hosts are; of no CPUs */
	struct symbols *symbols;
	struct path_names *names;
	struct execution_log *executions;
	struct ev_collect_run *run; /* what was traced; NULL: the trace does not say */
	struct ev_collect_end *end; /* what it cost; NULL: tracing has not ended, or the trace has no end */
	uint64_t first_ns; /* since when times count, for its owner to set; CLOCK_MONOTONIC, 0: since the first event */
	char *path;        /* of the file with the states */
	bool has_ended;    /* the command that was traced did, before tracing ended */
};

/*
 * opens_files: a trace without names has those of the files that it names. own_span: two events of a program's own that
 * delimit a span, besides those that were recorded; NULL: none (own/own_span.h). 0, or a negative errno after having said why
 * there is none.
 */
int trace_states_open(const char *trace_path, bool opens_files, const char *own_span, struct trace_states *all);

/*
 * The same without such a span, but states that are not there yet are made in memory, for one use; -E2BIG: there are too many events for
 * that. Of what goes wrong only what is wrong with the trace itself is said.
 */
int trace_states_open_for_once(const char *trace_path, bool opens_files, struct trace_states *all);

/* The same for somebody who waits for them (trace_states_make.h) and may cancel: then it is -ECANCELED, and nothing has been said. */
int trace_states_open_waiting(const char *trace_path, bool opens_files, struct states_waiter *waiter,
			      struct trace_states *all);

/*
 * The history that is being made of a growing trace (growing_states.h). opens_files: names are those of the files that the trace names, else there
 * are none. 0 or a negative errno; nothing is said.
 */
int trace_states_open_growing(const char *states_path, bool opens_files, struct trace_states *all);

/* Takes what came since. What was got from it before stays valid. 0 or a negative errno; nothing is said. */
int trace_states_grow(struct trace_states *all);

/* Says so if parts of the file turned out to be damaged. */
void trace_states_close(struct trace_states *all);

/* A time since the first event of the trace, or since first_ns, as its states have it; UINT64_MAX stays. */
uint64_t trace_states_time(const struct trace_states *all, uint64_t since_ns);

/* How threads and waits are called; for the caller to free. is_by_group: see graph_labels_group(). */
struct graph_labels *trace_states_labels(const struct trace_states *all, const struct fold_rules *fold,
					 bool is_by_group);
