/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/slices.h"

#include <stdlib.h>

#include "account/sample_set.h"
#include "base/memory.h"
#include "values.h"

enum { SLICE_SAMPLE_KINDS_MAX = 256 };

void slices_fini(struct slices *slices)
{
	for (size_t i = 0; i < slices->spare_set_count; i++) {
		sample_set_fini(slices->spare_sets[i]);
		free(slices->spare_sets[i]);
	}
}

void slices_drop_samples(struct slices *slices, struct thread_row *row)
{
	struct sample_set *set = row->samples;

	if (!set)
		return;
	for (size_t i = 0; i < set->kind_count; i++)
		slices->totals->samples_dropped += set->kinds[i].count;
	sample_set_clear(set);
}

/* The row's sample set, not needed any more, may serve another slice. */
static void give_back_samples(struct slices *slices, struct thread_row *row)
{
	struct sample_set *set = row->samples;

	if (!set)
		return;
	row->samples = NULL;
	if (slices->spare_set_count < SPARE_SETS_MAX) {
		sample_set_clear(set);
		slices->spare_sets[slices->spare_set_count++] = set;
	} else {
		sample_set_fini(set);
		free(set);
	}
}

/* A critical slice whose stack was kept goes to its path, with its samples. */
static void charge_path(struct slices *slices, struct thread_row *row, fixed_ns cmetric, uint64_t now_ns,
			const struct ev_sched_switch *e)
{
	struct call_path *path = call_paths_get(slices->paths, row->thread, e->stack, now_ns);
	struct criticality_totals *totals = slices->totals;

	totals->stacks_kept++;
	if (e->keep && e->keep * 0x1p-32 < totals->keep_min)
		totals->keep_min = e->keep * 0x1p-32;
	if (call_path_add_slice(slices->paths, path, row->thread, cmetric, e->keep))
		row->thread->is_kept = true;
	if (slices->waits) {
		struct wait_facts facts = wait_facts_of(e);

		call_path_add_cause(path, waits_cause_of(slices->waits, &facts), &facts, cmetric, e->keep);
	}
	if (row->samples && row->samples->kind_count) {
		totals->samples_dropped += call_path_add_samples(slices->paths, path, row->samples);
		sample_set_clear(row->samples);
	} else if (call_path_add_stack_top(path)) {
		totals->stack_tops++;
	}
}

void slices_begin(struct thread_row *row, const struct parallelism *p)
{
	row->slice_begin_ns = p->now_ns;
	row->slice_begin_share = p->share;
	row->slice_begin_integral = p->integral;
	if (row->is_spinning)
		slices_pause(row, p);
}

void slices_pause(struct thread_row *row, const struct parallelism *p)
{
	row->pause_begin_ns = p->now_ns;
	row->pause_begin_share = p->share;
	row->pause_begin_integral = p->integral;
}

/* As if the slice had begun later. */
void slices_resume(struct thread_row *row, const struct parallelism *p)
{
	row->slice_begin_ns += p->now_ns - row->pause_begin_ns;
	row->slice_begin_share += p->share - row->pause_begin_share;
	row->slice_begin_integral += p->integral - row->pause_begin_integral;
}

static void add_critical(struct slices *slices, struct thread_row *row, const struct parallelism *p,
			 const struct ev_sched_switch *e)
{
	fixed_ns cmetric = p->share - row->slice_begin_share;

	slices->totals->critical_slices++;
	row->metrics.critical_slices++;
	row->slice_cmetric_ns = fixed_to_ns(cmetric);
	slices->cmetric_critical += cmetric;
	if (!slices->paths)
		return;
	if (e && e->flags & SWITCH_HAS_STACK)
		charge_path(slices, row, cmetric, p->now_ns, e);
	else if (e && e->flags & SWITCH_STACK_SKIPPED)
		slices->totals->stacks_skipped++;
	else
		slices->totals->stacks_missing++;
}

void slices_end(struct slices *slices, struct thread_row *row, const struct parallelism *p,
		const struct ev_sched_switch *e)
{
	slices->totals->slices++;
	row->metrics.slices++;
	row->slice_cmetric_ns = 0;
	if (row->is_spinning)
		slices_resume(row, p);
	/* Of one that did nothing but spin there is nothing to tell. */
	if (!(row->is_spinning && row->slice_begin_ns == p->now_ns) &&
	    parallelism_is_critical(p, p->integral - row->slice_begin_integral, p->now_ns - row->slice_begin_ns))
		add_critical(slices, row, p, e);
	slices_drop_samples(slices, row); /* those that went to the path are gone already */
	give_back_samples(slices, row);
}

void slices_add_sample(struct slices *slices, struct thread_row *row, const struct ev_sched_sample *e)
{
	if (!row->samples && slices->spare_set_count)
		row->samples = slices->spare_sets[--slices->spare_set_count];
	if (!row->samples)
		row->samples = xcalloc(1, sizeof(*row->samples));
	if (!sample_set_add(row->samples, e->ip, e->kernel_ip, 1, SLICE_SAMPLE_KINDS_MAX))
		slices->totals->samples_dropped++;
}
