/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of tracing, from loading the kernel side to showing the report: what `pinch run`
 * and `pinch attach` have in common.
 *
 * Owns: one run of tracing.
 * Used by: cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "options/settings.h"

struct findings;
struct fold_rules;
struct outcome;
struct pause;
struct pollfd;
struct tracing;

/* Tests the outputs, loads and attaches. 0, or a negative errno after a message. */
int tracing_open(const struct settings *settings, struct tracing **out);
void tracing_close(struct tracing *tracing);

/* What is going to be traced: comes before the following two. */
void tracing_begin(struct tracing *tracing, const struct outcome *outcome);

/*
 * Follows functions of spans and USDT probes in files that are known, of which the command's is one; NULL: there is none.
 * 0, or a negative errno after having said what such a file lacks.
 */
int tracing_expect_program(struct tracing *tracing, const char *program);

/* Trace this process from its next exec on. */
int tracing_add_command(struct tracing *tracing, pid_t pid);

/* Trace these processes now. */
int tracing_add_processes(struct tracing *tracing, const struct pid_list *pids);

/*
 * The target runs and is traced: from here on its trace, if there is to be one, is in place of what the file held.
 * 0, or a negative errno after a message.
 */
int tracing_begin_trace(struct tracing *tracing);

/*
 * Tracing begins to count: the start-up is over, and privileges that only it takes are given up. has_command: one
 * was started, for signals.
 */
void tracing_start(struct tracing *tracing, bool has_command);

/*
 * Takes in what there is, shows the progress and waits a little, or until a signal comes.
 * Returns the signal's number, 0 for none; *sender is 0 when the kernel or terminal sent it.
 */
int tracing_step(struct tracing *tracing, pid_t *sender);

/*
 * A process that has ended may have threads that have not left their CPU yet: takes in what there is
 * until they have, or a moment has passed.
 */
void tracing_await_end(struct tracing *tracing, uint32_t pid);

/* The same without the tracing: waits for a signal, at most wait_ms; -1: as long as it takes. */
int tracing_wait_signal(struct tracing *tracing, int wait_ms, pid_t *sender);

/* What ends such a wait besides: descriptors, and so much time; -1: no limit. Borrowed. */
struct tracing_watch {
	struct pollfd *fds;
	size_t count;
	int wait_ms_max;
};

enum { TRACING_WATCH_MAX = 4 };
void tracing_set_watch(struct tracing *tracing, const struct tracing_watch *watch);

/* --duration has passed. */
bool tracing_is_time_over(const struct tracing *tracing);

/* Something was traced, and all of it has ended; all of a machine never has. */
bool tracing_is_target_gone(struct tracing *tracing);

/* A signal ends pinch again: the user should not have to wait for a report. */
void tracing_restore_signals(void);

/* Detaches and finishes the account, unless that is done. */
void tracing_finish(struct tracing *tracing);

/*
 * What has been found so far, or in all, for the caller to free. Pause is taken while it is made,
 * during which tracing_take_in() may be called; NULL: it need not. Valid as long as the tracing.
 */
struct findings *tracing_findings(struct tracing *tracing, const struct outcome *outcome, size_t path_count_max,
				  struct pause *pause);

/* Empties the kernel's buffers, and changes nothing of what is found. */
void tracing_take_in(struct tracing *tracing);

struct tracing_counts {
	uint64_t time_ns, threads, active, lost;
};

struct tracing_counts tracing_counts(const struct tracing *tracing);

const struct fold_rules *tracing_fold_rules(const struct tracing *tracing);

/*
 * Taken whenever files of the program are read, which may last. It has to call tracing_take_in();
 * NULL: one that does only that.
 */
void tracing_set_pause(struct tracing *tracing, struct pause *pause);

/* Detaches, finishes the account and shows or writes the report, as it is asked for. */
int tracing_report(struct tracing *tracing, const struct outcome *outcome);
