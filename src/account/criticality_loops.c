/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which threads are event loops (account/event_loop.h), and the ends of waits, which these hear of. */
#include "account/code_samples.h"
#include "account/criticality_internal.h"
#include "account/event_loop.h"
#include "account/thread_waits.h"

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
