/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether the reader of the rings has to run before all others. A nice value is worth something only
 * among threads of one group of the scheduler, and each session or cgroup is one: where the groups share busy
 * CPUs, a reader is kept waiting for seconds. Then it becomes a real-time thread, as long as it takes
 * little of the CPUs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct urgency {
	uint64_t updated_ns;     /* CLOCK_MONOTONIC; 0: never yet */
	uint64_t updated_cpu_ns; /* what it had used by then */
	uint64_t late_ns;        /* when it was late last; 0: never */
	int64_t budget_ns;       /* of CPU time before all others */
	bool is_urgent;
	bool is_refused; /* the system does not allow it */
};

/*
 * It runs at now_ns, and has used so much CPU time. is_late: later than it had to. Sets is_urgent, and
 * returns whether that has changed.
 */
bool urgency_update(struct urgency *urgency, uint64_t now_ns, uint64_t cpu_ns, bool is_late);

/* Whether more threads have wanted CPUs in the last minute, on average, than there are. */
bool urgency_is_expected(void);

/* As urgency_update(), of the calling thread, whose scheduling becomes what it says. */
void urgency_apply(struct urgency *urgency, uint64_t now_ns, bool is_late);

/* There is nothing to be late for any more. */
void urgency_end(struct urgency *urgency);
