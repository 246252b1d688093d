/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each thread does, derived from the ordered stream. Records may be lost, and clocks of
 * two CPUs may disagree by some nanoseconds: an event that does not fit the state of its
 * thread corrects the state, so that one loss never falsifies what follows.
 */
#include "account/criticality_internal.h"

#include <stdlib.h>
#include <string.h>

#include "account/call_path.h"
#include "account/run_samples.h"
#include "account/measures/state_listener.h"
#include "account/thread_waits.h"
#include "base/memory.h"
#include "session/external_threads.h"
#include "session/wake_order.h"
#include "values.h"
#include "waits/sums/missing_wakeups.h"

/*
 * Whether all threads sleep, or spin, has changed, or not; row is the thread that changed it, in the
 * phase before until then.
 */
static void note_stall(struct criticality *self, struct thread_row *row, uint8_t before)
{
	const struct parallelism *p = &self->parallelism;
	bool is_stalled = p->alive && !p->active;
	uint64_t stall_ns;

	if (is_stalled == self->is_stalled)
		return;
	self->is_stalled = is_stalled;
	if (is_stalled) {
		self->stall_begin_ns = p->now_ns;
		return;
	}
	stall_ns = p->now_ns - self->stall_begin_ns;
	if (!stall_ns)
		return;
	self->totals.stalls++;
	if (!p->active)
		return; /* no thread is left: nobody woke up */
	row->metrics.stalls_ended_ns += stall_ns;
	if (self->paths && row->has_block_stack && !phase_is_active(before))
		call_path_add_stall(call_paths_get(self->paths, row->thread, row->block_stack, p->now_ns), stall_ns);
}

/*
 * The thread does something else from now on. Its slice ends before n and N change: a thread
 * counts in the N of its own last slice.
 */
static void set_phase(struct criticality *self, struct thread_row *row, uint8_t phase, const struct ev_sched_switch *e)
{
	bool has_counted = thread_row_counts(row);
	uint8_t before = row->phase;

	thread_row_settle(row, &self->parallelism);
	if (before == PHASE_RUNNING) {
		slices_end(&self->slices, row, &self->parallelism, e);
		criticality_end_code(self, row, e);
		if (row->cpu != CPU_UNKNOWN)
			self->running[row->cpu] = NULL;
	}
	row->phase = phase;
	row->found_ns = 0;
	if (phase == PHASE_BLOCKED)
		row->block_ns = self->parallelism.now_ns;
	/*
	 * What is preempted goes on as it was; who blocks has come to the end of its wait, even if its
	 * wake-up has been seen already.
	 */
	if (row->is_spinning && (!phase_is_active(phase) || (e && e->state != SWITCH_RUNNABLE))) {
		row->is_spinning = false;
		parallelism_change_spinning(&self->parallelism, -1);
	}
	parallelism_change(&self->parallelism, thread_row_counts(row) - has_counted,
			   phase_is_alive(phase) - phase_is_alive(before));
	if (phase_is_alive(phase) && !row->was_alive) {
		row->was_alive = true;
		self->totals.thread_count++;
	}
	note_stall(self, row, before);
	if (self->options.waits && phase_is_active(before) != phase_is_active(phase))
		thread_wait_note_history(row, &self->parallelism);
	if (phase == PHASE_RUNNING) {
		row->cpu = CPU_UNKNOWN;
		slices_begin(row, &self->parallelism);
	} else if (phase == PHASE_DEAD) {
		criticality_end_loop(self, row);
		thread_wait_thread_ends(self->options.waits, row, &self->parallelism);
		thread_rows_died(self->rows, row);
	}
}

/* What the row does by now: the switch or the wake-up that made it do so, as far as there is one. */
static void emit_state(const struct criticality *self, struct thread_row *row, const struct ev_sched_switch *out,
		       const struct ev_sched_wake *wake)
{
	const struct state_listener *listener = self->options.listener;

	if (self->blocked_on)
		criticality_note_past(self, row);
	if (listener)
		listener->on_change(listener->data, &(struct state_change){
							    .thread = row->thread,
							    .time_ns = self->parallelism.now_ns,
							    .phase = row->phase,
							    .is_spinning = row->is_spinning,
							    .cpu = row->cpu,
							    .out = out,
							    .wake = wake,
						    });
}

/* The thread, which is active, spins from now on or no longer. */
static void set_spinning(struct criticality *self, struct thread_row *row, bool is_spinning)
{
	struct parallelism *p = &self->parallelism;
	int change = is_spinning - row->is_spinning;

	if (!change)
		return;
	thread_row_settle(row, p);
	if (row->phase == PHASE_RUNNING)
		(is_spinning ? slices_pause : slices_resume)(row, p);
	row->is_spinning = is_spinning;
	parallelism_change_spinning(p, change);
	parallelism_change(p, -change, 0);
	note_stall(self, row, row->phase);
	if (self->options.waits)
		thread_wait_note_history(row, p);
	emit_state(self, row, NULL, NULL);
}

/* The row of an event's thread, time advanced to the event. */
static struct thread_row *advance_to(struct criticality *self, const struct ev_header *header, uint32_t number)
{
	struct thread_row *row = thread_rows_get(self->rows, number);

	parallelism_advance(&self->parallelism, header->time_ns);
	row->sync = self->sync;
	return row;
}

static uint8_t phase_after(const struct ev_sched_switch *e, const struct thread_row *row)
{
	if (e->state == SWITCH_RUNNABLE)
		return PHASE_RUNNABLE;
	if (e->state == SWITCH_DEAD)
		return PHASE_DEAD;
	/* The wake-up that ended this wait has come already. */
	if (row->is_wake_early && e->header.time_ns <= row->wake_ns + WAKE_TIE_NS_MAX)
		return PHASE_RUNNABLE;
	return PHASE_BLOCKED;
}

/*
 * The list of threads has just said what the row does: its next event, on another CPU, may have come
 * between the time of that record and its content.
 */
static bool may_cross_list(const struct criticality *self, const struct thread_row *row)
{
	return row->found_ns && self->parallelism.now_ns <= row->found_ns + LIST_NS_MAX;
}

static void note_odd(struct criticality *self, const struct thread_row *row, const char *what)
{
	struct criticality_oddity *odd = &self->totals.odd;

	*odd = (struct criticality_oddity){
		.time_ns = self->parallelism.now_ns,
		.tid = row->thread->tid,
		.what = what,
	};
	memcpy(odd->name, row->thread->name, sizeof(odd->name));
}

/*
 * What the row does now does not follow from what it did. That is odd, unless nothing was known about it,
 * or records are lost.
 */
static void note_unordered(struct criticality *self, const struct thread_row *row, const char *what)
{
	if (row->phase == PHASE_UNKNOWN || may_cross_list(self, row) || self->is_in_gap)
		return;
	self->totals.unordered++;
	note_odd(self, row, what);
}

/* The row, which is blocked, turns out to have been woken. */
static void note_missing_wakeup(struct criticality *self, const struct thread_row *row)
{
	const struct parallelism *p = &self->parallelism;
	struct missing_wakeups *missing = self->options.missing;

	if (may_cross_list(self, row) ||
	    (missing && missing_wakeups_add(missing, MISSING_CHANGE, row->block_ns, p->now_ns, NULL) != MISSING_ODD))
		return;
	self->totals.unordered += !missing;
	note_odd(self, row, "became active without a wake-up");
}

static void switch_out(struct criticality *self, struct thread_row *row, const struct ev_sched_switch *e)
{
	uint8_t phase = phase_after(e, row);

	if (row->phase == PHASE_BLOCKED)
		note_missing_wakeup(self, row);
	else if ((row->phase != PHASE_RUNNING || (row->cpu != CPU_UNKNOWN && row->cpu != e->cpu)) &&
		 !(e->flags & SWITCH_AFTER_HIDDEN))
		note_unordered(self, row, "left a CPU without having been on it");
	row->is_end_seen = phase == PHASE_DEAD;
	criticality_lose_wait(self, row);
	if (e->flags & SWITCH_HAS_STACK && e->stack && !row->metrics.path)
		row->metrics.path = e->stack;
	if (e->state != SWITCH_RUNNABLE) {
		row->has_block_stack = e->flags & SWITCH_HAS_STACK;
		row->block_stack = e->stack;
	}
	row->is_wake_early = false;
	if (phase != row->phase)
		set_phase(self, row, phase, e);
	if (phase == PHASE_BLOCKED)
		criticality_begin_wait(self, row, e);
	emit_state(self, row, e, NULL);
}

static void switch_in(struct criticality *self, struct thread_row *row, uint16_t cpu)
{
	row->is_wake_early = false;
	row->is_wake_late = false;
	if (row->phase == PHASE_BLOCKED) {
		note_missing_wakeup(self, row);
		row->is_wake_late = true;
		row->wake_ns = self->parallelism.now_ns;
		criticality_run_loop(self, row);
	} else if (row->phase != PHASE_RUNNABLE) {
		note_unordered(self, row, "got a CPU without being runnable");
	}
	if (self->blocked_on && row->phase == PHASE_RUNNABLE)
		criticality_end_cpu_wait(self, row, cpu);
	if (row->phase == PHASE_RUNNING)
		set_phase(self, row, PHASE_RUNNABLE, NULL);
	set_phase(self, row, PHASE_RUNNING, NULL);
	row->cpu = cpu;
	self->running[cpu] = row;
	if (cpu >= self->cpu_count)
		self->cpu_count = cpu + 1;
	emit_state(self, row, NULL, NULL);
}

static bool counts(const struct criticality *self, uint32_t thread)
{
	return self->options.is_of_all ? thread : thread_is_traced(thread);
}

static void on_switch(void *data, const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;
	struct criticality *self = data;
	struct thread_row *row = self->running[e->cpu];
	struct ev_sched_switch capacity;

	if (!self->options.is_of_all)
		e = switch_of_target(e, &capacity);
	header = &e->header;
	parallelism_advance(&self->parallelism, header->time_ns);
	self->totals.switches += header->thread || e->next;
	if (row && row->number != header->thread) {
		/* The switch that ended its slice was lost. */
		note_unordered(self, row, "was replaced on its CPU without a switch record");
		set_phase(self, row, PHASE_RUNNABLE, NULL);
		emit_state(self, row, NULL, NULL);
	}
	if (header->thread)
		switch_out(self, advance_to(self, header, header->thread), e);
	if (e->next)
		switch_in(self, advance_to(self, header, e->next), e->cpu);
}

static void on_ready(void *data, const struct ev_header *header)
{
	struct criticality *self = data;
	struct thread_row *row = thread_rows_find(self->rows, header->thread);

	if (row && row->wait.is_open)
		waits_ready(&row->wait, (const struct ev_sched_ready *)header);
}

static void on_wake(void *data, const struct ev_header *header)
{
	const struct ev_sched_wake *e = (const struct ev_sched_wake *)header;
	struct criticality *self = data;
	struct ev_sched_wake capacity;
	struct thread_row *row;

	if (!self->options.is_of_all)
		e = wake_of_target(e, &capacity);
	if (!counts(self, header->thread))
		return;
	row = advance_to(self, header, header->thread);
	switch (row->phase) {
	case PHASE_BLOCKED:
		criticality_end_wait(self, row, self->parallelism.now_ns, e);
		set_phase(self, row, PHASE_RUNNABLE, NULL);
		emit_state(self, row, NULL, e);
		break;
	case PHASE_RUNNING:
		if (row->is_wake_late && header->time_ns <= row->wake_ns + WAKE_TIE_NS_MAX) {
			row->is_wake_late = false;
			criticality_end_wait(self, row, row->wake_ns, e);
			if (self->options.listener)
				self->options.listener->on_late_wake(self->options.listener->data, row->thread, e);
			break;
		}
		/* Only blocked threads are woken: the block has yet to come. */
		row->is_wake_early = true;
		row->wake_ns = self->parallelism.now_ns;
		break;
	case PHASE_UNKNOWN:
		set_phase(self, row, PHASE_RUNNABLE, NULL);
		emit_state(self, row, NULL, e);
		break;
	case PHASE_DEAD:
		/* To believe it would leave a ghost that is active for ever. */
		note_unordered(self, row, "was woken after it had exited");
		break;
	}
}

static void on_sample(void *data, const struct ev_header *header)
{
	const struct ev_sched_sample *e = (const struct ev_sched_sample *)header;
	struct criticality *self = data;
	const struct criticality_options *options = &self->options;
	const struct parallelism *p = &self->parallelism;
	struct thread_row *row;

	row = counts(self, header->thread) ? advance_to(self, header, header->thread) : NULL;
	if (e->role == SAMPLE_BESIDE) {
		if (row && row->phase == PHASE_RUNNING && options->code)
			criticality_add_code(self, row, e);
		return;
	}
	self->totals.samples++;
	if (!row || row->phase != PHASE_RUNNING) {
		self->totals.samples_dropped++;
		return;
	}
	if (options->samples)
		run_samples_add(options->samples, row->thread, p->now_ns, e, &row->sampled, p->active);
	if (options->is_spinning)
		set_spinning(self, row,
			     options->is_spinning(options->spin_data, row->thread, p->now_ns, e, &row->sampled));
	row->sampled = *e;
	if (!row->metrics.path)
		row->metrics.path = e->stack;
	if (options->code && !criticality_add_code(self, row, e))
		self->totals.samples_dropped++;
	if (!self->paths)
		return;
	if (row->is_spinning || !parallelism_is_critical(p, p->active, 1))
		self->totals.samples_dropped++;
	else
		slices_add_sample(&self->slices, row, e);
}

static void on_born(void *data, const struct ev_header *header)
{
	struct criticality *self = data;
	struct thread_row *row;

	if (!counts(self, header->thread))
		return;
	row = advance_to(self, header, header->thread);
	if (row->phase == PHASE_UNKNOWN) {
		criticality_inherit_request(self, row);
		set_phase(self, row, PHASE_RUNNABLE, NULL);
		emit_state(self, row, NULL, NULL);
	} else if (row->phase == PHASE_DEAD) {
		note_unordered(self, row, "was created after it had exited");
	}
}

static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;
	struct ev_sched_switch found = {
		.state = SWITCH_SLEEPING,
		.object = e->object,
		.value = e->value,
		.syscall = e->syscall,
		.operation = e->operation,
	};
	struct criticality *self = data;
	struct thread_row *row;

	if (!counts(self, header->thread))
		return;
	row = advance_to(self, header, header->thread);
	if (e->phase == PHASE_UNKNOWN || e->phase > PHASE_DEAD)
		return;
	criticality_note_command(self, row);
	if (e->phase == row->phase) {
		if (self->is_in_gap) /* that it still does so is news */
			emit_state(self, row, e->phase == PHASE_BLOCKED ? &found : NULL, NULL);
		return;
	}
	/* The list met it at its end: to believe that would leave a ghost, as with wake-ups. */
	if (row->phase == PHASE_DEAD && row->is_end_seen)
		return;
	/* Events are right, as long as none are lost; the list was read a moment later. */
	if (row->phase != PHASE_UNKNOWN && !self->is_in_gap)
		return;
	row->is_wake_early = false;
	row->is_wake_late = false;
	row->has_block_stack = false;
	criticality_lose_wait(self, row);
	/* Its CPU shows at its next switch: the recorded one may be out of date. */
	set_phase(self, row, e->phase, NULL);
	row->found_ns = self->parallelism.now_ns;
	if (e->phase == PHASE_BLOCKED)
		criticality_begin_wait(self, row, &found);
	row->wait.is_found = true;
	emit_state(self, row, e->phase == PHASE_BLOCKED ? &found : NULL, NULL);
}

static void on_waits(void *data, const struct ev_header *header)
{
	const struct ev_thread_waits *e = (const struct ev_thread_waits *)header;
	struct criticality *self = data;
	struct thread_row *row;

	if (!counts(self, header->thread))
		return;
	row = advance_to(self, header, header->thread);
	if (self->options.waits)
		waits_listed(self->options.waits, row->thread, &row->wait, e);
}

/* What was gathered in the old address space means nothing in the new one. */
static void on_exec(void *data, const struct ev_header *header)
{
	struct criticality *self = data;
	struct thread_row *row;

	if (!counts(self, header->thread))
		return;
	row = advance_to(self, header, header->thread);
	slices_drop_samples(&self->slices, row);
	set_spinning(self, row, false);
	row->has_block_stack = false;
	row->metrics.path = 0;
}

static void on_gap(void *data, const struct ev_header *header)
{
	const struct ev_collect_gap *e = (const struct ev_collect_gap *)header;
	struct criticality *self = data;

	parallelism_advance(&self->parallelism, header->time_ns);
	self->totals.gaps++;
	self->totals.lost_records += e->lost;
	self->is_sync_damaged = true;
	if (!self->is_in_gap)
		self->gap_begin_wall_ns = self->parallelism.wall_ns;
	self->is_in_gap = true;
}

static void on_sync_begin(void *data, const struct ev_header *header)
{
	struct criticality *self = data;

	parallelism_advance(&self->parallelism, header->time_ns);
	self->sync++;
	self->is_in_sync = true;
	self->is_sync_damaged = false;
}

/* A list that itself lost records proves nothing; the next one will do. */
static void on_sync_end(void *data, const struct ev_header *header)
{
	struct criticality *self = data;
	struct thread_row *row;
	size_t cursor = 0;

	parallelism_advance(&self->parallelism, header->time_ns);
	if (!self->is_in_sync)
		return;
	self->is_in_sync = false;
	if (self->is_sync_damaged)
		return;
	while ((row = thread_rows_next(self->rows, &cursor))) {
		if (row->sync == self->sync || row->phase == PHASE_DEAD)
			continue;
		if (phase_is_alive(row->phase))
			note_unordered(self, row, "was missing from the list of all threads");
		criticality_lose_wait(self, row);
		set_phase(self, row, PHASE_DEAD, NULL);
		emit_state(self, row, NULL, NULL);
	}
	if (self->is_in_gap)
		self->totals.gap_ns += self->parallelism.wall_ns - self->gap_begin_wall_ns;
	self->is_in_gap = false;
}

static void on_run(void *data, const struct ev_header *header)
{
	criticality_note_run(data, (const struct ev_collect_run *)header);
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },
	{ EV_SCHED_WAKE, on_wake },
	{ EV_SCHED_SAMPLE, on_sample },
	{ EV_SCHED_READY, on_ready },
	{ EV_THREAD_BORN, on_born },
	{ EV_THREAD_FOUND, on_found },
	{ EV_THREAD_WAITS, on_waits },
	{ EV_THREAD_EXEC, on_exec },
	{ EV_COLLECT_GAP, on_gap },
	{ EV_COLLECT_SYNC_BEGIN, on_sync_begin },
	{ EV_COLLECT_SYNC_END, on_sync_end },
	{ EV_COLLECT_RUN, on_run },
	{ 0, NULL },
};

struct criticality *criticality_new(struct session *session, struct threads *threads,
				    const struct criticality_options *options)
{
	struct criticality *self = xcalloc(1, sizeof(*self));

	self->options = *options;
	self->threads = threads;
	self->parallelism.nmin_option = options->nmin;
	self->rows = thread_rows_new(threads, options->threads_max, options->keeps_strips);
	self->paths = options->has_no_paths ? NULL : call_paths_new(options->paths_max);
	if (options->code)
		criticality_begin_pasts(self);
	self->totals.keep_min = 1;
	self->slices.paths = self->paths;
	self->slices.waits = options->waits;
	self->slices.totals = &self->totals;
	session_subscribe(session, handlers, self);
	return self;
}

void criticality_free(struct criticality *self)
{
	if (!self)
		return;
	slices_fini(&self->slices);
	parallelism_fini(&self->parallelism);
	criticality_free_pasts(self);
	thread_rows_free(self->rows);
	call_paths_free(self->paths);
	free(self);
}

void criticality_finish(struct criticality *self, uint64_t now_ns)
{
	const struct parallelism *p = &self->parallelism;
	struct thread_row *row;
	size_t cursor = 0;

	parallelism_advance(&self->parallelism, now_ns);
	while ((row = thread_rows_next(self->rows, &cursor))) {
		thread_row_settle(row, &self->parallelism);
		thread_wait_lose_end(self->options.waits, row, &self->parallelism, row->phase == PHASE_BLOCKED);
		if (row->phase == PHASE_RUNNING) {
			slices_end(&self->slices, row, &self->parallelism, NULL);
			slices_begin(row, &self->parallelism);
		}
	}
	if (self->is_stalled && p->now_ns > self->stall_begin_ns) {
		self->totals.stalls++;
		self->stall_begin_ns = p->now_ns;
	}
	if (self->is_in_gap) {
		self->totals.gap_ns += p->wall_ns - self->gap_begin_wall_ns;
		self->gap_begin_wall_ns = p->wall_ns;
	}
}
