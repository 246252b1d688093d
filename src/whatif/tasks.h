/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long tasks would have taken, had something been shorter: a moment of a thread is somewhere in a step of it, and in a replay
 * comes as far in the same step.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "whatif/whatif.h"

struct whatif_task {
	uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC, as recorded */
	uint32_t begin_thread, end_thread;
};

/*
 * Of each task, how long it takes with the change; what the replay has too much or too little of it without a change, it has in this
 * proportion. UINT64_MAX: its threads have no steps then.
 */
void whatif_predict_tasks(const struct whatif *whatif, const struct whatif_change *change,
			  const struct whatif_task *tasks, size_t count, uint64_t *predicted_ns);

/* What those have in common whose time is predicted. */
struct whatif_task_sums {
	size_t count;
	uint64_t mean_ns, p99_ns, predicted_mean_ns, predicted_p99_ns;
};

struct whatif_task_sums whatif_sum_tasks(const struct whatif_task *tasks, const uint64_t *predicted_ns, size_t count);
