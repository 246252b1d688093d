/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the account says of samples: with how many active threads, and why the slices ended in which they fell. */
#include "account/code_samples.h"
#include "account/criticality_internal.h"
#include "base/memory.h"
#include "chains/blocked_on.h"

/* Why the slice of the row has ended is known of what was sampled in it. */
void criticality_end_code(const struct criticality *self, struct thread_row *row, const struct ev_sched_switch *e)
{
	struct wait_facts facts;

	if (!row->code_count)
		return;
	if (e && self->options.waits)
		facts = wait_facts_of(e);
	code_samples_end_slice(row,
			       e && self->options.waits ? waits_cause_of(self->options.waits, &facts) : SLICE_CAUSES,
			       e && self->options.waits ? &facts : NULL);
}

_Static_assert((int)CHAIN_SOURCES == CODE_SOURCES, "chains keep samples apart by their source");

static void note_sample(struct criticality *self, struct thread_row *row, const struct ev_sched_sample *e,
			const struct code_sample *code)
{
	struct past **cpu = row->cpu < CPUS_MAX ? &self->cpu_pasts[row->cpu] : NULL;
	struct past_sample sample = {
		.time_ns = self->parallelism.now_ns,
		.code = code,
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

/* The row has been sampled. n is that of when its timer was to expire: where interrupts are off, it comes late. */
bool criticality_add_code(struct criticality *self, struct thread_row *row, const struct ev_sched_sample *e)
{
	const struct parallelism *p = &self->parallelism;
	const struct code_sample *code;
	struct parallelism_moment due = parallelism_at(p, e->due_ns ? e->due_ns : p->now_ns);

	if (!due.active)
		due = parallelism_at(p, p->now_ns); /* the row was woken since */
	code = code_samples_add(self->options.code, row, p->now_ns, e, row->is_spinning ? 0 : due.active,
				due.is_critical);
	if (code)
		note_sample(self, row, e, code);
	return code;
}
