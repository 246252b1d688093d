/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of tracing, from loading the kernel side to showing the report: what `pinch run`
 * and `pinch attach` have in common.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cmd/settings.h"

struct tracing;

/* Tests the outputs, loads and attaches. 0, or a negative errno after having said why not. */
int tracing_open(const struct settings *settings, struct tracing **out);
void tracing_close(struct tracing *tracing);

/* Trace this process from its next exec on. */
int tracing_add_command(struct tracing *tracing, pid_t pid);

/* Trace these processes now. */
int tracing_add_processes(struct tracing *tracing, const struct pid_list *pids);

/* Tracing begins to count: the start-up is over. */
void tracing_start(struct tracing *tracing);

/*
 * Takes in what there is, shows the progress and waits a little, or until a signal comes.
 * Returns the signal's number, 0 for none; *sender is 0 when the kernel or terminal sent it.
 */
int tracing_step(struct tracing *tracing, pid_t *sender);

/* The same without the tracing: waits for a signal, at most wait_ms; -1: as long as it takes. */
int tracing_wait_signal(struct tracing *tracing, int wait_ms, pid_t *sender);

/* --duration has passed. */
bool tracing_is_time_over(const struct tracing *tracing);

/* Something was traced, and all of it has ended. */
bool tracing_is_target_gone(const struct tracing *tracing);

/* A signal ends pinch again: the user should not have to wait for a report. */
void tracing_restore_signals(void);

struct outcome {
	const char *command;		/* as the user would type it */
	const uint32_t *pids;
	size_t pid_count;
	int exit_status;		/* -1: none */
};

/* Detaches, finishes the account and shows the report. */
int tracing_report(struct tracing *tracing, const struct outcome *outcome);
