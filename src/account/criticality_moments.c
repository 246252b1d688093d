/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What other threads did when a sample met one (chains/run_moments.h). */
#include "account/code_samples.h"
#include "account/criticality_internal.h"

/* Of more threads, dead ones included, only those that run are looked at; a sample without a period is the usual one. */
enum { THREADS_MAX = 512, NEAR_USUAL_NS = 2000000 };

static const struct past_sample *last_sample(const struct thread_row *row)
{
	const struct past *past = &row->past;

	return past->sample_count > past_first_sample(past) ? past_sample(past, past->sample_count - 1) : NULL;
}

static void add_running(struct run_moment *moment, const struct thread_row *row)
{
	struct moment_other other = { .thread = row->number, .phase = PHASE_RUNNING };
	const struct past_sample *sample = last_sample(row);

	if (sample && sample->time_ns >= row->slice_begin_ns && moment->time_ns - sample->time_ns <= moment->near_ns) {
		other.code = sample->code;
		other.away_ns = moment->time_ns - sample->time_ns;
	}
	run_moment_add_other(moment, &other);
}

static void add_runnable(struct run_moment *moment, const struct thread_row *row)
{
	const struct past_sample *sample = last_sample(row);

	run_moment_add_other(moment, &(struct moment_other){ .thread = row->number,
							     .phase = PHASE_RUNNABLE,
							     .code = sample ? sample->code : NULL });
}

static void add_blocked(const struct criticality *self, struct run_moment *moment, struct thread_row *row)
{
	if (!row->met_wait)
		row->met_wait = run_moments_new_wait(self->moments);
	if (row->met_wait)
		run_moment_add_other(
			moment,
			&(struct moment_other){ .thread = row->number, .phase = PHASE_BLOCKED, .wait = row->met_wait });
}

/* Those that have blocked last. */
struct sleepers {
	struct thread_row *rows[MOMENT_SLEEPERS_MAX];
	size_t count;
};

static void put_sleeper(struct sleepers *sleepers, struct thread_row *row)
{
	size_t i = sleepers->count < MOMENT_SLEEPERS_MAX ? sleepers->count++ : MOMENT_SLEEPERS_MAX - 1;

	if (i == MOMENT_SLEEPERS_MAX - 1 && sleepers->rows[i] && sleepers->rows[i]->block_ns >= row->block_ns)
		return;
	for (; i && sleepers->rows[i - 1]->block_ns < row->block_ns; i--)
		sleepers->rows[i] = sleepers->rows[i - 1];
	sleepers->rows[i] = row;
}

static void add_still(const struct criticality *self, struct run_moment *moment, uint32_t thread)
{
	struct sleepers sleepers = { 0 };
	struct thread_row *row;
	size_t cursor = 0;

	if (thread_rows_count(self->rows) > THREADS_MAX)
		return;
	while ((row = thread_rows_next(self->rows, &cursor))) {
		if (row->number == thread)
			continue;
		if (row->phase == PHASE_RUNNABLE)
			add_runnable(moment, row);
		else if (row->phase == PHASE_BLOCKED && row->wait.is_open)
			put_sleeper(&sleepers, row);
	}
	for (size_t i = 0; i < sleepers.count; i++)
		add_blocked(self, moment, sleepers.rows[i]);
}

void criticality_note_moment(struct criticality *self, const struct thread_row *row, const struct ev_sched_sample *e,
			     const struct code_sample *code)
{
	struct run_moment *moment;
	uint64_t now_ns = self->parallelism.now_ns;

	run_moments_note_sample(self->moments, now_ns, row->number, row->slice_begin_ns, code);
	if (e->role == SAMPLE_BESIDE)
		return;
	moment = run_moments_add(self->moments, &(struct run_moment){
							.time_ns = now_ns,
							.thread = row->number,
							.near_ns = e->period_ns ? e->period_ns / 2 : NEAR_USUAL_NS,
							.code = code,
							.weight = code_samples_unit(e),
						});
	if (!moment)
		return;
	for (size_t i = 0; i < self->cpu_count; i++)
		if (self->running[i] && self->running[i] != row)
			add_running(moment, self->running[i]);
	add_still(self, moment, row->number);
}

void criticality_end_met_wait(struct thread_row *row, uint64_t end_ns, const struct wait_added *added, uint32_t waker)
{
	if (!row->met_wait)
		return;
	*row->met_wait = (struct moment_wait){
		.is_over = true,
		.end_ns = end_ns,
		.cause = added->cause,
		.waker = added->is_by_waker ? waker : 0,
		.path = added->path,
	};
	row->met_wait = NULL;
}
