/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slices of threads: which were critical, and what those with a stack give to their call path,
 * with the samples taken in them.
 */
#pragma once

#include "account/call_path.h"
#include "account/measures/metrics.h"
#include "account/measures/parallelism.h"
#include "account/thread_rows.h"

enum { SPARE_SETS_MAX = 64 };

struct slices {
	struct call_paths *paths;
	const struct waits *waits;         /* know why slices end; NULL: nobody does */
	struct criticality_totals *totals; /* its counts of slices, samples and stacks */
	fixed_ns cmetric_critical;         /* of all critical slices, on the CPU */

	/* Emptied sample sets: as many as threads run at once. */
	struct sample_set *spare_sets[SPARE_SETS_MAX];
	size_t spare_set_count;
};

void slices_fini(struct slices *slices);

/* The row gets a CPU, or is charged for what it did so far and goes on. */
void slices_begin(struct thread_row *row, const struct parallelism *p);

/* It spins from now on, or no longer: meanwhile the slice neither grows nor weighs. */
void slices_pause(struct thread_row *row, const struct parallelism *p);
void slices_resume(struct thread_row *row, const struct parallelism *p);

/*
 * e is the switch that ends the slice; NULL when that was lost or is yet to come. Must come before n
 * and N change: a thread counts in the N of its own last slice.
 */
void slices_end(struct slices *slices, struct thread_row *row, const struct parallelism *p,
		const struct ev_sched_switch *e);

/* Of the slice that the row is in. */
void slices_add_sample(struct slices *slices, struct thread_row *row, const struct ev_sched_sample *e);

/* The samples of the slice that the row is in mean nothing any more. */
void slices_drop_samples(struct slices *slices, struct thread_row *row);
