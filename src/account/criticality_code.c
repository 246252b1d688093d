/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the account says of samples: with how many active threads, and why the slices ended in which they fell. */
#include "account/code_samples.h"
#include "account/criticality_internal.h"
#include "account/event_loop.h"

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
	if (code) {
		criticality_note_past_sample(self, row, e, code);
		criticality_note_moment(self, row, e, code);
	}
	if (code && row->loop)
		event_loop_add_sample(row->loop, code, code_samples_unit(e));
	if (row->loop)
		criticality_note_turn(row, e);
	return code;
}
