/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings as they are written, and the words that they are made of. They are read off the finished
 * report: the patterns are in patterns_*.c, their bounds in doc/metrics.md.
 */
#pragma once

#include "findings/findings_internal.h"

enum { FINDINGS_MAX = 64, EVIDENCE_MAX = 10 };

struct draft {
	struct report_finding rows[FINDINGS_MAX];
	const char *evidence[FINDINGS_MAX][EVIDENCE_MAX];
	size_t count;
};

/* A finding below this share of all threads' time that was not idle, or of the wall time, is none. */
static const double finding_share_min = 0.03, finding_wall_min = 0.01;

double draft_share(double part, double whole);

/* Of all threads' time that was not idle; 0 where that is next to nothing in the wall time. */
double draft_lost(const struct findings *findings, double lost_ns);

/* NULL when there are enough of them. */
struct report_finding *draft_add(struct findings *findings, struct draft *draft,
				 const char *pattern, const char *cause, double share,
				 const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Adds a sentence to the evidence; row may be NULL. */
void draft_say(struct findings *findings, struct report_finding *row, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* As long as a sentence can bear: if need be with template arguments and parameters left out. */
const char *draft_name(struct findings *findings, const char *name);

/* The name of a variable or a file; of a long one, its begin and its end. */
const char *draft_object(struct findings *findings, const char *name);

/* "big_work() (multi_mutex.cpp:28)"; NULL when no function is known that says anything. */
const char *draft_place(struct findings *findings, const struct report_frame *frames, size_t count);

const char *draft_duration(struct findings *findings, uint64_t time_ns);

/* "1 wait", "17 waits". */
const char *draft_counted(struct findings *findings, uint64_t count, const char *thing);

/* "3 waits of 2 ms in the mean and 4 ms at most" */
const char *draft_lengths(struct findings *findings, uint64_t count, uint64_t wait_ns,
			  uint64_t max_ns);

/* Comes before all others, whatever its share. */
static const char pattern_deadlock[] = "deadlock";

/* patterns_deadlock.c, patterns_locks.c, patterns_waits.c, patterns_threads.c */
void patterns_add_deadlocks(struct findings *findings, struct draft *draft);
void patterns_add_locks(struct findings *findings, struct draft *draft);
void patterns_add_waits(struct findings *findings, struct draft *draft);
void patterns_add_threads(struct findings *findings, struct draft *draft);
