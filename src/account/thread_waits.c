/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/thread_waits.h"

#include "chains/blocked_on.h"

/* The row as waits see it, its figures those of this moment. */
static struct wait_party party_of(struct thread_row *row, const struct parallelism *p)
{
	const struct thread_metrics *metrics = &row->metrics;

	thread_row_settle(row, p);
	return (struct wait_party){
		.thread = row->thread,
		.wait = &row->wait,
		.history = &row->history,
		.running_ns = metrics->running_ns,
		.sum = {
			.cmetric_ns = fixed_to_ns(metrics->cmetric_oncpu + metrics->cmetric_runqueue),
			.busy_ns = metrics->running_ns + metrics->runnable_ns + row->wait.real_ns,
		},
	};
}

/* When the wait of the row ended whose wake-up was lost: a switch showed it, or nothing did. */
static uint64_t lost_end_ns(const struct thread_row *row, const struct parallelism *p)
{
	return row->phase == PHASE_BLOCKED ? p->now_ns : row->wake_ns;
}

void thread_wait_note_history(struct thread_row *row, const struct parallelism *p)
{
	struct wait_party party = party_of(row, p);

	history_add(&row->history, &(struct history_point){
					   .time_ns = p->now_ns,
					   .share_ns = fixed_to_ns(p->share),
					   .cmetric_ns = party.sum.cmetric_ns,
					   .busy_ns = party.sum.busy_ns,
					   .is_active = phase_is_active(row->phase),
					   .is_spinning = row->is_spinning,
				   });
}

void thread_wait_begin(struct waits *waits, struct thread_row *row, const struct parallelism *p,
		       const struct ev_sched_switch *e)
{
	struct wait_party party;

	if (!waits)
		return;
	party = party_of(row, p);
	waits_begin(waits, &party, p->now_ns, fixed_to_ns(p->share), row->slice_cmetric_ns, e);
}

/* Parts of the wait that time had ended (wait_repeats.h): as if they came one after the other just before it. */
static void blocked_on_end_parts(struct blocked_on *blocked, const struct thread_row *row, struct thread_row *waker)
{
	const struct wait_repeats *repeats = &row->wait.repeats;
	uint64_t end_ns = row->wait.begin_ns, begin_ns;

	for (size_t i = 0; i < WAIT_PORTIONS && repeats->has_ended; i++, end_ns = begin_ns) {
		const struct wait_portion *parts = &repeats->parts[i];

		begin_ns = end_ns - parts->wait_ns;
		blocked_on_end(blocked, &waker->past, begin_ns, end_ns,
			       (struct blocked_key[]){ { parts->place.path, parts->place.weight, parts->place.path },
						       { parts->lock, 1, NULL } },
			       2);
	}
}

struct wait_added thread_wait_end(struct waits *waits, struct blocked_on *blocked, struct thread_row *row,
				  struct thread_row *waker, const struct parallelism *p, uint64_t end_ns,
				  const struct ev_sched_wake *e)
{
	struct wait_party party, waker_party;
	struct wait_added added;

	if (waker)
		waker_party = party_of(waker, p);
	party = party_of(row, p);
	added = waits_end(waits, &party, end_ns, e, waker ? &waker_party : NULL, false);
	past_end_wait(&row->past, added.cause, added.path, added.is_by_waker ? waker->number : 0);
	if (!blocked || !added.is_by_waker)
		return added;
	blocked_on_end_parts(blocked, row, waker);
	blocked_on_end(blocked, &waker->past, row->wait.begin_ns, end_ns,
		       (struct blocked_key[]){ { added.path, added.weight, added.path }, { added.lock, 1, NULL } }, 2);
	return added;
}

void thread_wait_lose_end(struct waits *waits, struct thread_row *row, const struct parallelism *p, bool is_over)
{
	struct wait_party party;

	if (!row->wait.is_open)
		return;
	party = party_of(row, p);
	waits_end(waits, &party, lost_end_ns(row, p), NULL, NULL, is_over);
}

void thread_wait_thread_ends(struct waits *waits, struct thread_row *row, const struct parallelism *p)
{
	struct wait_party party;

	if (!waits)
		return;
	party = party_of(row, p);
	waits_thread_ends(waits, &party);
}

void thread_wait_count_open(struct waits *waits, struct thread_row *row, const struct parallelism *p)
{
	struct wait_party party;

	if (!waits || !row->wait.is_open)
		return;
	party = party_of(row, p);
	waits_count_open(waits, &party, lost_end_ns(row, p));
}
