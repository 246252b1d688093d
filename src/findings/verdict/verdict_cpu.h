/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a lack of CPUs is: how much of the waiting for one there is, who had them, and which code of the program has those that there are. */
#pragma once

#include <stdbool.h>

struct findings;
struct report;
struct report_blocked_code;
struct report_blocker;
struct report_finding;
struct report_wait;

/* Whether there were, on average, threads for nearly all CPUs: then it is not waiting that keeps CPUs from use. */
bool verdict_is_saturated(const struct report *report);

/* Whether the program itself has nearly all CPUs, and not to spin. */
bool verdict_has_all_cpus(const struct report *report);

/*
 * The share of a finding by which it ranks for the verdict. Of a program that leaves CPUs free, it is no lack of CPUs that its
 * threads take turns on one, or that a CPU has to wake up: what of a finding of pattern cpu-wait is that does not count, unless it
 * is most of the time, for threads may be bound to these CPUs; or unless there were threads for all CPUs, and each waited long.
 */
double verdict_weight(const struct report *report, const struct report_finding *finding);

/*
 * Where the program has nearly all CPUs, and its threads wait for them: its function that has most of what they wait for. NULL:
 * none has, or others have them.
 */
const struct report_blocked_code *verdict_cpu_code(struct findings *findings, const struct report_finding *finding);

/*
 * The process, or those of one name, that had the CPU for most of the time that threads waited for one; pid is 0 of
 * several. It lives in the arena of the findings. NULL: none.
 */
const struct report_blocker *verdict_rival(struct findings *findings);

/*
 * Whether those who wait for a lock behind one who has no CPU have the CPUs themselves, when they do not wait: then it is the
 * lock that makes them take turns, and not a shortage of CPUs. wait: NULL: it is none.
 */
bool verdict_is_own_shortage(struct findings *findings, const struct report_wait *wait);
