/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all that threads did adds up to. */
#include <string.h>

#include "account/call_path.h"
#include "account/criticality_internal.h"
#include "account/thread_waits.h"
#include "waits/sums/missing_wakeups.h"

void criticality_advance(struct criticality *self, uint64_t now_ns)
{
	parallelism_advance(&self->parallelism, now_ns);
}

uint64_t criticality_now_ns(const struct criticality *self)
{
	return self->parallelism.now_ns;
}

void criticality_count_open_waits(struct criticality *self)
{
	struct thread_row *row;
	size_t cursor = 0;

	while ((row = thread_rows_next(self->rows, &cursor)))
		thread_wait_count_open(self->options.waits, row, &self->parallelism);
}

void criticality_uncount_open_waits(struct criticality *self)
{
	if (self->options.waits)
		waits_uncount_open(self->options.waits);
}

static fixed_ns cmetric_sum(const struct criticality *self)
{
	const struct thread_metrics *metrics;
	size_t cursor = 0;
	fixed_ns sum = 0;

	while ((metrics = criticality_next_thread(self, &cursor)))
		sum += metrics->cmetric_oncpu + metrics->cmetric_runqueue;
	return sum;
}

const struct blocked_on *criticality_blocked_on(const struct criticality *self)
{
	return self->blocked_on;
}

const struct run_moments *criticality_moments(const struct criticality *self)
{
	return self->moments;
}

struct criticality_totals criticality_totals(const struct criticality *self)
{
	const struct parallelism *p = &self->parallelism;
	struct criticality_totals totals = self->totals;

	if (self->options.missing)
		totals.unordered += missing_wakeups_count(self->options.missing, MISSING_CHANGE, MISSING_ODD);
	totals.begin_ns = p->begin_ns;
	totals.end_ns = p->end_ns;
	totals.wall_ns = p->wall_ns;
	totals.active_ns = p->active_ns;
	totals.stalled_ns = p->stalled_ns;
	totals.spun_ns = p->spun_ns;
	totals.critical_ns = p->critical_ns;
	totals.cmetric_ns = fixed_to_ns(cmetric_sum(self));
	totals.closure_error_ns = (int64_t)(p->wall_ns - p->stalled_ns - totals.cmetric_ns);
	totals.oncpu_cmetric_critical_ns = fixed_to_ns(self->slices.cmetric_critical);
	totals.alive_count = p->alive;
	totals.alive_count_max = p->alive_max;
	totals.active_count_max = p->active_max;
	totals.nmin = p->nmin_option ? p->nmin_option : p->alive < 2 ? 1 : p->alive / 2;
	return totals;
}

struct criticality_counts criticality_counts(const struct criticality *self)
{
	return (struct criticality_counts){
		.threads = self->totals.thread_count,
		.alive = self->parallelism.alive,
		.active = self->parallelism.active,
		.lost_records = self->totals.lost_records,
	};
}

/* Rows come first, then what was folded; the cursor's upper half says which. */
const struct thread_metrics *criticality_next_thread(const struct criticality *self, size_t *cursor)
{
	const size_t folded_base = SIZE_MAX / 2;
	const struct thread_metrics *metrics;
	struct thread_row *row;
	size_t folded;

	while (*cursor < folded_base && (row = thread_rows_next(self->rows, cursor))) {
		if (!row->was_alive)
			continue;
		thread_row_settle(row, &self->parallelism);
		memcpy(row->metrics.name, row->thread->name, sizeof(row->metrics.name));
		row->metrics.cpus_allowed = row->thread->cpus_allowed;
		row->metrics.is_alive = phase_is_alive(row->phase);
		return &row->metrics;
	}
	if (*cursor < folded_base)
		*cursor = folded_base;
	folded = *cursor - folded_base;
	metrics = thread_rows_next_folded(self->rows, &folded);
	*cursor = folded_base + folded;
	return metrics;
}

const struct path_metrics *criticality_next_path(const struct criticality *self, size_t *cursor)
{
	return call_paths_next(self->paths, self->options.stacks, cursor);
}

uint64_t criticality_time_at(const struct criticality *self, uint32_t active)
{
	const struct parallelism *p = &self->parallelism;

	return active < p->time_at_count ? p->time_at[active] : 0;
}

size_t criticality_timeline(const struct criticality *self, double *average, size_t count)
{
	return parallelism_timeline(&self->parallelism, average, count);
}
