/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings as they are written. They are read off the finished report: the patterns are in patterns_*.c, their
 * bounds in doc/metrics.md.
 *
 * Owns: what stands out of a report.
 * Used by: findings/verdict, findings.
 */
#pragma once

#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"

enum { FINDINGS_MAX = 64, EVIDENCE_MAX = 10 };

struct draft {
	struct report_finding rows[FINDINGS_MAX];
	const char *evidence[FINDINGS_MAX][EVIDENCE_MAX];
	size_t count;
	bool is_hung; /* all processes that live */
};

/* A finding below this share of all threads' time that was not idle, or of the wall time, is none. */
static const double finding_share_min = 0.03, finding_wall_min = 0.01;

double draft_share(double part, double whole);

/* Of all threads' time that was not idle; 0 where that is next to nothing in the wall time. */
double draft_lost(const struct findings *findings, double lost_ns);

/* NULL when there are enough of them. */
struct report_finding *draft_add(struct findings *findings, struct draft *draft, enum pattern pattern,
				 enum wait_cause cause, double share, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Adds a sentence to the evidence, once; row may be NULL. */
void draft_say(struct findings *findings, struct report_finding *row, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a sentence before all others; of too many the last one goes. */
void draft_say_first(struct findings *findings, struct report_finding *row, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds what those did that were waited for; NULL: it is not known. */
void draft_say_blocked_on(struct findings *findings, struct report_finding *row,
			  const struct report_blocked_on *blocked_on);

/* patterns_deadlock.c, patterns_hang.c, patterns_locks.c, patterns_waits.c, patterns_threads.c, patterns_cpus.c, patterns_spins.c, patterns_loops.c,
 * patterns_collections.c, patterns_processes.c, patterns_listeners.c */
void patterns_add_deadlocks(struct findings *findings, struct draft *draft);
void patterns_add_hangs(struct findings *findings, struct draft *draft);
void patterns_add_locks(struct findings *findings, struct draft *draft);
void patterns_add_waits(struct findings *findings, struct draft *draft);
void patterns_add_threads(struct findings *findings, struct draft *draft);
void patterns_add_cpus(struct findings *findings, struct draft *draft);
void patterns_add_spins(struct findings *findings, struct draft *draft);
void patterns_add_loops(struct findings *findings, struct draft *draft);
void patterns_add_collections(struct findings *findings, struct draft *draft);
void patterns_add_short_lived(struct findings *findings, struct draft *draft);

/* patterns_waits.c: who ended most of such waits, if he is not traced: what he did meanwhile would be known if he were. */
void patterns_say_untraced(struct findings *findings, struct report_finding *row, const struct report_wait *wait);

/* When all others are there, and folded: where connections have to wait because of one of these, that one says so. */
void patterns_add_listeners(struct findings *findings, struct draft *draft);

/* Whether connections waited most of the time, rather than in bursts: then it is slow to accept, whatever the queue holds. */
bool patterns_is_slow_to_accept(const struct report_listener *listener);

/* patterns_roots.c: rows that are symptoms of one cause become one row, which is about that. */
void patterns_fold_by_root(struct findings *findings, struct draft *draft);

/* Other processes, by the CPU time that they had on the machine; of those of one name that had most: pid 0, if they are several. */
struct cpu_neighbours {
	const char *name;
	uint32_t pid;
	size_t count;
	uint64_t most_ns, all_ns;
};

/* patterns_cpus.c: whether they had at least half of what threads waited for, which may run on all CPUs. */
bool patterns_have_neighbours(const struct report *report, struct cpu_neighbours *out);

/* patterns_cpus.c: whether a lack of CPUs is a finding, and other processes have most of them. */
bool patterns_lose_cpus(const struct findings *findings);

/* patterns_resources.c: rows whose waits the program's memory limit makes become rows about that. */
void patterns_add_limits(struct findings *findings, struct draft *draft);

/* Fills in report.findings: what stands out, when all the rest is there. */
void findings_add_patterns(struct findings *findings);
