/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What threads did of late and what ran on each CPU, for walks back from the ends of waits (chains/blocked_on.h). */
#include <stdlib.h>

#include "account/code_samples.h"
#include "account/criticality_internal.h"
#include "base/memory.h"
#include "chains/blocked_on.h"

_Static_assert((int)CHAIN_SOURCES == CODE_SOURCES, "chains keep samples apart by their source");

static struct past *past_of(void *rows, uint32_t number)
{
	struct thread_row *row = thread_rows_find(rows, number);

	return row ? &row->past : NULL;
}

void criticality_begin_pasts(struct criticality *self)
{
	self->blocked_on = blocked_on_new(past_of, self->rows, thread_rows_past_budget(self->rows));
	self->moments = run_moments_new();
}

void criticality_free_pasts(struct criticality *self)
{
	for (size_t i = 0; i < CPUS_MAX; i++) {
		if (self->cpu_pasts[i])
			past_fini(self->cpu_pasts[i], thread_rows_past_budget(self->rows));
		free(self->cpu_pasts[i]);
	}
	run_moments_free(self->moments);
	blocked_on_free(self->blocked_on);
}

void criticality_note_past(const struct criticality *self, struct thread_row *row)
{
	thread_rows_add_past(self->rows, row, self->parallelism.now_ns);
	if (past_wants_life(&row->past))
		blocked_on_extend_life(self->blocked_on, &row->past);
}

void criticality_note_past_sample(struct criticality *self, struct thread_row *row, const struct ev_sched_sample *e,
				  const struct code_sample *code)
{
	struct past **cpu = row->cpu < CPUS_MAX ? &self->cpu_pasts[row->cpu] : NULL;
	struct past_sample sample = {
		.time_ns = self->parallelism.now_ns,
		.code = code,
		.kin = code->kin,
		.weight = code_samples_unit(e),
		.source = code->stratum->source,
	};

	thread_rows_add_past_sample(self->rows, row, &sample);
	if (cpu && !*cpu)
		*cpu = xcalloc(1, sizeof(**cpu));
	if (cpu)
		past_add_sample(*cpu, thread_rows_past_budget(self->rows), &sample);
}

/* Who was preempted waited where it was; of others the CPU they waited for is not known: the one they got stands in. */
void criticality_end_cpu_wait(struct criticality *self, const struct thread_row *row, uint16_t cpu)
{
	const struct past *past = &row->past;
	uint64_t last = past->part_count - 1;
	const struct past_part *wait;

	if (past->part_count < past_first_part(past) + 2)
		return;
	wait = past_part(past, last);
	if (wait->phase != PHASE_RUNNABLE)
		return;
	if (past_part(past, last - 1)->phase == PHASE_RUNNING && row->cpu < CPUS_MAX)
		cpu = row->cpu;
	if (self->cpu_pasts[cpu])
		blocked_on_end_cpu_wait(self->blocked_on, self->cpu_pasts[cpu], wait->begin_ns,
					self->parallelism.now_ns);
}
