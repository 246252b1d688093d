/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads are event loops (account/event_loop.h), and the ends of waits, which these hear of. */
#include "account/code_samples.h"
#include "account/criticality_internal.h"
#include "account/event_loop.h"
#include "account/thread_waits.h"
#include "values.h"

static struct loop_moment moment_of(struct thread_row *row, const struct parallelism *p)
{
	thread_row_settle(row, p);
	return (struct loop_moment){
		.time_ns = p->now_ns,
		.running_ns = row->metrics.running_ns,
		.runnable_ns = row->metrics.runnable_ns,
		.blocked_ns = row->metrics.blocked_ns,
	};
}

void criticality_begin_wait(struct criticality *self, struct thread_row *row, const struct ev_sched_switch *e)
{
	struct wait_facts facts;
	struct loop_moment now;

	thread_wait_begin(self->options.waits, row, &self->parallelism, e);
	if (!self->options.waits)
		return;
	row->wait.is_in_iteration = false;
	facts = wait_facts_of(e);
	if (!row->loop && event_loop_rank(&facts))
		thread_rows_add_loop(self->rows, row);
	if (!row->loop)
		return;
	now = moment_of(row, &self->parallelism);
	row->wait.is_in_iteration = event_loop_begin_wait(row->loop, &facts, &now);
}

static void end_wait_of_loop(const struct criticality *self, struct thread_row *row, const struct wait_added *added,
			     bool is_asked)
{
	struct loop_moment now = moment_of(row, &self->parallelism);

	event_loop_end_wait(row->loop, &now, added->cause, added->path, is_asked);
}

void criticality_end_wait(struct criticality *self, struct thread_row *row, uint64_t end_ns,
			  const struct ev_sched_wake *e)
{
	struct thread_row *waker = NULL;
	struct wait_added added;

	if (!row->wait.is_open)
		return;
	if (e->waker && e->waker != row->number)
		waker = thread_rows_get(self->rows, e->waker);
	added = thread_wait_end(self->options.waits, self->blocked_on, row, waker, &self->parallelism, end_ns, e);
	criticality_end_met_wait(row, end_ns, &added, waker ? waker->number : 0);
	if (row->loop)
		end_wait_of_loop(self, row, &added, row->wait.request.is_open);
}

void criticality_lose_wait(struct criticality *self, struct thread_row *row)
{
	bool is_open = row->wait.is_open;

	thread_wait_lose_end(self->options.waits, row, &self->parallelism, false);
	row->met_wait = NULL;
	if (is_open && row->loop)
		end_wait_of_loop(self, row, &(struct wait_added){ .cause = row->wait.cause }, false);
}

void criticality_run_loop(const struct criticality *self, struct thread_row *row)
{
	if (row->loop)
		end_wait_of_loop(self, row, &(struct wait_added){ .cause = row->wait.cause }, false);
}

/*
 * Of the time from then on, in which the thread has not waited for a CPU, as much as is known: false if what is kept of
 * its past does not reach so far back.
 */
static bool without_cpu_waits(const struct past *past, uint64_t begin_ns, uint64_t now_ns, uint64_t *ns)
{
	uint64_t number = past->part_count, first = past_first_part(past), end_ns = now_ns;

	*ns = 0;
	while (number > first && end_ns > begin_ns) {
		const struct past_part *part = past_part(past, --number);
		uint64_t since_ns = part->begin_ns > begin_ns ? part->begin_ns : begin_ns;

		if (part->phase != PHASE_RUNNABLE && since_ns < end_ns)
			*ns += end_ns - since_ns;
		end_ns = since_ns;
	}
	return end_ns <= begin_ns;
}

/* A poll that blocked ended when the iteration began, whether or not it was watched how that began. */
void criticality_note_turn(struct thread_row *row, const struct ev_sched_sample *e)
{
	uint64_t now_ns = e->header.time_ns, age_ns = (uint64_t)e->turn_age << TURN_AGE_SHIFT, begin_ns, ns;
	bool is_least = e->turn == TURN_SINCE_WATCH || e->turn_age == UINT16_MAX;

	if (e->turn == TURN_UNKNOWN || !row->loop->is_working)
		return;
	begin_ns = now_ns > age_ns ? now_ns - age_ns : 0;
	if (begin_ns <= row->loop->since.time_ns) {
		begin_ns = row->loop->since.time_ns;
		is_least = false;
	}
	is_least |= !without_cpu_waits(&row->past, begin_ns, now_ns, &ns);
	event_loop_add_turn(row->loop, ns, is_least);
}

void criticality_end_loop(const struct criticality *self, struct thread_row *row)
{
	struct loop_moment now;

	if (!row->loop)
		return;
	now = moment_of(row, &self->parallelism);
	event_loop_end(row->loop, &now);
}

struct event_loop *criticality_next_loop(const struct criticality *self, size_t *cursor, const struct thread **thread)
{
	struct thread_row *row;

	while ((row = thread_rows_next(self->rows, cursor))) {
		struct loop_moment now;

		if (!row->loop)
			continue;
		now = moment_of(row, &self->parallelism);
		*thread = row->thread;
		return event_loop_copy_ended(row->loop, &now);
	}
	return NULL;
}

uint64_t criticality_iteration_ns(const struct criticality *self, uint32_t pid, uint64_t now_ns)
{
	const struct thread_row *row;
	uint64_t longest_ns = 0;
	size_t cursor = 0;

	while ((row = thread_rows_next(self->rows, &cursor))) {
		const struct event_loop *loop = row->loop;

		if (!loop || !loop->is_working || row->thread->pid != pid || now_ns < loop->since.time_ns)
			continue;
		if (now_ns - loop->since.time_ns > longest_ns)
			longest_ns = now_ns - loop->since.time_ns;
	}
	return longest_ns;
}

uint64_t criticality_loops_left_out(const struct criticality *self)
{
	return thread_rows_loops_left_out(self->rows);
}
