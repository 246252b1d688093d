/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first event of a stream, which says what is traced, and the last one, which says what only the
 * kernel side and the collector know: how a report gets both, live or from a trace.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct ev_collect_end;
struct findings;
struct report;
struct session;
struct settings;
struct span_specs;
struct text;

/* What was traced, and how it ended. */
struct outcome {
	const char *command; /* as the user would type it */
	const uint32_t *pids;
	size_t pid_count;
	int exit_status; /* -1: none */
};

/* Hands collect.RUN out, as of begin_ns (CLOCK_MONOTONIC). */
void run_event_hand_out(struct session *session, uint64_t begin_ns, const struct settings *settings,
			const struct outcome *outcome);

/* The same for span.NAME, of each. */
void span_events_hand_out(struct session *session, uint64_t begin_ns, const struct span_specs *specs);

/* Where its strings begin: the command, the host and the kernel. */
const char *run_event_strings(const struct ev_collect_run *e);

/*
 * Hands collect.END out: of the report what no other event says, and notes, sentences with a NUL after
 * each.
 */
void end_event_hand_out(struct session *session, uint64_t ended_ns, const struct report *report,
			const struct text *notes);

/* The same event, to be freed, for who does not end with the session. It is later than what was handed out. */
struct ev_collect_end *end_event_new(const struct session *session, uint64_t ended_ns, const struct report *report,
				     const struct text *notes);

/* Fills in what end_event_hand_out() took out of a report. */
void end_event_fill(const struct ev_collect_end *e, struct findings *findings);

/* Adds sentences, with a NUL after each, to the report's notes. */
void notes_fill(const char *notes, size_t size_bytes, struct findings *findings);
