/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each thread does, told from the ordered stream. Records may be lost, and clocks of
 * two CPUs may disagree by some nanoseconds: an event that does not fit the state of its
 * thread mends the state, so that one loss never falsifies what follows.
 */
#include "analysis/criticality.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/call_path.h"
#include "analysis/parallelism.h"
#include "analysis/sample_set.h"
#include "analysis/thread_rows.h"
#include "analysis/thread_strip.h"
#include "base/memory.h"
#include "values.h"

enum {
	CPUS_MAX = UINT16_MAX + 1,
	SLICE_SAMPLE_KINDS_MAX = 256,
	/*
	 * A wake-up is at most so much out of order with the block or the switch that it
	 * belongs to. Clocks differ by far less; a longer distance means two different things.
	 */
	WAKE_TIE_NS_MAX = 100 * 1000,
	SPARE_SETS_MAX = 64,
};

struct criticality {
	struct criticality_options options;
	struct threads *threads;
	struct parallelism parallelism;
	struct thread_rows *rows;
	struct call_paths *paths;
	struct criticality_totals totals;	/* only the counters */
	fixed_ns oncpu_cmetric_critical;

	struct thread_row *running[CPUS_MAX];	/* by CPU; NULL: an untraced thread, or not known */

	bool is_stalled;
	uint64_t stall_begin_ns;

	bool is_in_gap, is_in_sync, is_sync_damaged;
	uint64_t gap_begin_ns;
	uint32_t sync;				/* number of the latest, from 1 */

	/* Emptied sample sets: as many as threads run at once. */
	struct sample_set *spare_sets[SPARE_SETS_MAX];
	size_t spare_set_count;
};

static bool is_active(uint8_t phase)
{
	return phase == PHASE_RUNNABLE || phase == PHASE_RUNNING;
}

static bool is_alive(uint8_t phase)
{
	return phase == PHASE_BLOCKED || is_active(phase);
}

static void add_to_strip(const struct criticality *self, struct thread_row *row)
{
	const struct parallelism *p = &self->parallelism;

	if (!is_alive(row->phase))
		return;
	if (!row->metrics.strip)
		row->metrics.strip = xcalloc(1, sizeof(*row->metrics.strip));
	thread_strip_add(row->metrics.strip, row->phase, row->part_begin_ns - p->begin_ns,
			 p->now_ns - p->begin_ns);
}

/* Charges the row for what it has been doing up to now. */
static void settle(const struct criticality *self, struct thread_row *row)
{
	const struct parallelism *p = &self->parallelism;
	struct thread_metrics *metrics = &row->metrics;
	uint64_t part_ns = p->now_ns - row->part_begin_ns;
	fixed_ns share = p->share - row->part_begin_share;

	if (self->options.keeps_strips && part_ns)
		add_to_strip(self, row);
	row->part_begin_ns = p->now_ns;
	row->part_begin_share = p->share;
	if (row->phase == PHASE_RUNNING) {
		metrics->cmetric_oncpu += share;
		metrics->running_ns += part_ns;
	} else if (row->phase == PHASE_RUNNABLE) {
		metrics->cmetric_runqueue += share;
		metrics->runnable_ns += part_ns;
	} else if (row->phase == PHASE_BLOCKED) {
		metrics->blocked_ns += part_ns;
	}
}

/* Whether all threads sleep has changed, or not; row is the thread that changed it. */
static void note_stall(struct criticality *self, struct thread_row *row)
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
		return;		/* no thread is left: nobody woke up */
	row->metrics.stalls_ended_ns += stall_ns;
	if (row->has_block_stack)
		call_path_add_stall(call_paths_get(self->paths, row->thread, row->block_stack,
						   p->now_ns),
				    stall_ns);
}

static void drop_samples(struct criticality *self, struct thread_row *row)
{
	struct sample_set *set = row->samples;

	if (!set)
		return;
	for (size_t i = 0; i < set->kind_count; i++)
		self->totals.samples_dropped += set->kinds[i].count;
	sample_set_clear(set);
}

/* The row's sample set, not needed any more, may serve another slice. */
static void give_back_samples(struct criticality *self, struct thread_row *row)
{
	struct sample_set *set = row->samples;

	if (!set)
		return;
	row->samples = NULL;
	if (self->spare_set_count < SPARE_SETS_MAX) {
		sample_set_clear(set);
		self->spare_sets[self->spare_set_count++] = set;
	} else {
		sample_set_fini(set);
		free(set);
	}
}

/* A critical slice whose stack was kept goes to its path, with its samples. */
static void charge_path(struct criticality *self, struct thread_row *row, fixed_ns cmetric,
			const struct ev_sched_switch *e)
{
	struct criticality_totals *totals = &self->totals;
	struct call_path *path = call_paths_get(self->paths, row->thread, e->stack,
						self->parallelism.now_ns);

	totals->stacks_kept++;
	if (e->keep && e->keep * 0x1p-32 < totals->keep_min)
		totals->keep_min = e->keep * 0x1p-32;
	if (call_path_add_slice(self->paths, path, row->thread, cmetric, e->keep))
		row->thread->is_kept = true;
	if (self->options.waits) {
		struct wait_facts facts = wait_facts_of(e);

		call_path_add_cause(path, waits_cause_of(self->options.waits, &facts), &facts,
				    cmetric, e->keep);
	}
	if (row->samples && row->samples->kind_count) {
		totals->samples_dropped += call_path_add_samples(self->paths, path, row->samples);
		sample_set_clear(row->samples);
	} else if (call_path_add_stack_top(path)) {
		totals->stack_tops++;
	}
}

static void begin_slice(struct criticality *self, struct thread_row *row)
{
	row->slice_begin_ns = self->parallelism.now_ns;
	row->slice_begin_share = self->parallelism.share;
	row->slice_begin_integral = self->parallelism.integral;
}

/* e is the switch that ends the slice; NULL when that was lost or is yet to come. */
static void end_slice(struct criticality *self, struct thread_row *row,
		      const struct ev_sched_switch *e)
{
	const struct parallelism *p = &self->parallelism;

	self->totals.slices++;
	row->metrics.slices++;
	row->slice_cmetric_ns = 0;
	if (parallelism_is_critical(p, p->integral - row->slice_begin_integral,
				    p->now_ns - row->slice_begin_ns)) {
		fixed_ns cmetric = p->share - row->slice_begin_share;

		self->totals.critical_slices++;
		row->metrics.critical_slices++;
		row->slice_cmetric_ns = fixed_to_ns(cmetric);
		self->oncpu_cmetric_critical += cmetric;
		if (e && e->flags & SWITCH_HAS_STACK)
			charge_path(self, row, cmetric, e);
		else if (e && e->flags & SWITCH_STACK_SKIPPED)
			self->totals.stacks_skipped++;
		else
			self->totals.stacks_missing++;
	}
	drop_samples(self, row);	/* those that went to the path are gone already */
	give_back_samples(self, row);
}

/* The row as waits see it, its figures those of this moment. */
static struct wait_party party_of(const struct criticality *self, struct thread_row *row)
{
	const struct thread_metrics *metrics = &row->metrics;

	settle(self, row);
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

static void note_history(const struct criticality *self, struct thread_row *row)
{
	struct wait_party party = party_of(self, row);

	history_add(&row->history, &(struct history_point){
		.time_ns = self->parallelism.now_ns,
		.share_ns = fixed_to_ns(self->parallelism.share),
		.cmetric_ns = party.sum.cmetric_ns,
		.busy_ns = party.sum.busy_ns,
		.is_active = is_active(row->phase),
	});
}

static void begin_wait(const struct criticality *self, struct thread_row *row,
		       const struct ev_sched_switch *e)
{
	struct wait_party party;

	if (!self->options.waits)
		return;
	party = party_of(self, row);
	waits_begin(self->options.waits, &party, self->parallelism.now_ns,
		    fixed_to_ns(self->parallelism.share), row->slice_cmetric_ns, e);
}

/* When the wait of the row ended whose wake-up was lost: a switch or nothing has told. */
static uint64_t lost_end_ns(const struct criticality *self, const struct thread_row *row)
{
	return row->phase == PHASE_BLOCKED ? self->parallelism.now_ns : row->wake_ns;
}

/* The wait of the row ended at end_ns. e: by what, NULL when that was lost or the trace is over. */
static void end_wait(struct criticality *self, struct thread_row *row, uint64_t end_ns,
		     const struct ev_sched_wake *e, bool is_over)
{
	struct wait_party party, waker;
	bool has_waker;

	if (!row->wait.is_open)
		return;
	has_waker = e && e->waker && e->waker != row->number;
	if (has_waker)
		waker = party_of(self, thread_rows_get(self->rows, e->waker));
	party = party_of(self, row);
	waits_end(self->options.waits, &party, end_ns, e, has_waker ? &waker : NULL, is_over);
}

/*
 * The thread does something else from now on. Its slice ends before n and N change: a thread
 * counts in the N of its own last slice.
 */
static void set_phase(struct criticality *self, struct thread_row *row, uint8_t phase,
		      const struct ev_sched_switch *e)
{
	uint8_t before = row->phase;

	settle(self, row);
	if (before == PHASE_RUNNING) {
		end_slice(self, row, e);
		if (row->cpu != CPU_UNKNOWN)
			self->running[row->cpu] = NULL;
	}
	row->phase = phase;
	parallelism_change(&self->parallelism, is_active(phase) - is_active(before),
			   is_alive(phase) - is_alive(before));
	if (is_alive(phase) && !row->was_alive) {
		row->was_alive = true;
		self->totals.thread_count++;
	}
	note_stall(self, row);
	if (self->options.waits && is_active(before) != is_active(phase))
		note_history(self, row);
	if (phase == PHASE_RUNNING) {
		row->cpu = CPU_UNKNOWN;
		begin_slice(self, row);
	} else if (phase == PHASE_DEAD) {
		thread_rows_died(self->rows, row);
	}
}

/* The row of an event's thread, time advanced to the event. */
static struct thread_row *advance_to(struct criticality *self, const struct ev_header *header,
				     uint32_t number)
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

static void switch_out(struct criticality *self, struct thread_row *row,
		       const struct ev_sched_switch *e)
{
	uint8_t phase = phase_after(e, row);

	if (row->phase != PHASE_RUNNING || (row->cpu != CPU_UNKNOWN && row->cpu != e->cpu))
		self->totals.unordered++;
	row->is_end_seen = phase == PHASE_DEAD;
	end_wait(self, row, lost_end_ns(self, row), NULL, false);
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
		begin_wait(self, row, e);
}

static void switch_in(struct criticality *self, struct thread_row *row, uint16_t cpu)
{
	row->is_wake_early = false;
	row->is_wake_late = false;
	if (row->phase != PHASE_RUNNABLE)
		self->totals.unordered++;
	if (row->phase == PHASE_RUNNING)
		set_phase(self, row, PHASE_RUNNABLE, NULL);
	if (row->phase == PHASE_BLOCKED) {
		row->is_wake_late = true;
		row->wake_ns = self->parallelism.now_ns;
	}
	set_phase(self, row, PHASE_RUNNING, NULL);
	row->cpu = cpu;
	self->running[cpu] = row;
}

static void on_switch(void *data, const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;
	struct criticality *self = data;
	struct thread_row *row = self->running[e->cpu];

	parallelism_advance(&self->parallelism, header->time_ns);
	self->totals.switches += header->thread || e->next;
	if (row && row->number != header->thread) {
		/* The switch that ended its slice was lost. */
		self->totals.unordered++;
		set_phase(self, row, PHASE_RUNNABLE, NULL);
	}
	if (header->thread)
		switch_out(self, advance_to(self, header, header->thread), e);
	if (e->next)
		switch_in(self, advance_to(self, header, e->next), e->cpu);
}

static void on_wake(void *data, const struct ev_header *header)
{
	const struct ev_sched_wake *e = (const struct ev_sched_wake *)header;
	struct criticality *self = data;
	struct thread_row *row;

	if (!header->thread)
		return;
	row = advance_to(self, header, header->thread);
	switch (row->phase) {
	case PHASE_BLOCKED:
		end_wait(self, row, self->parallelism.now_ns, e, false);
		set_phase(self, row, PHASE_RUNNABLE, NULL);
		break;
	case PHASE_RUNNING:
		if (row->is_wake_late && header->time_ns <= row->wake_ns + WAKE_TIE_NS_MAX) {
			row->is_wake_late = false;
			end_wait(self, row, row->wake_ns, e, false);
			break;
		}
		/* Only blocked threads are woken: the block has yet to come. */
		row->is_wake_early = true;
		row->wake_ns = self->parallelism.now_ns;
		break;
	case PHASE_UNKNOWN:
		self->totals.unordered++;
		set_phase(self, row, PHASE_RUNNABLE, NULL);
		break;
	case PHASE_DEAD:
		/* To believe it would leave a ghost that is active for ever. */
		self->totals.unordered++;
		break;
	}
}

static void on_sample(void *data, const struct ev_header *header)
{
	const struct ev_sched_sample *e = (const struct ev_sched_sample *)header;
	struct criticality *self = data;
	struct thread_row *row;

	self->totals.samples++;
	row = header->thread ? advance_to(self, header, header->thread) : NULL;
	if (!row || row->phase != PHASE_RUNNING) {
		self->totals.samples_dropped++;
		return;
	}
	if (!row->samples && self->spare_set_count)
		row->samples = self->spare_sets[--self->spare_set_count];
	if (!row->samples)
		row->samples = xcalloc(1, sizeof(*row->samples));
	if (!sample_set_add(row->samples, e->ip, e->kernel_ip, 1, SLICE_SAMPLE_KINDS_MAX))
		self->totals.samples_dropped++;
}

static void on_born(void *data, const struct ev_header *header)
{
	struct criticality *self = data;
	struct thread_row *row;

	if (!header->thread)
		return;
	row = advance_to(self, header, header->thread);
	if (row->phase == PHASE_UNKNOWN)
		set_phase(self, row, PHASE_RUNNABLE, NULL);
	else if (row->phase == PHASE_DEAD)
		self->totals.unordered++;
}

static void on_found(void *data, const struct ev_header *header)
{
	const struct ev_thread_found *e = (const struct ev_thread_found *)header;
	struct criticality *self = data;
	struct thread_row *row;

	if (!header->thread)
		return;
	row = advance_to(self, header, header->thread);
	if (e->phase == PHASE_UNKNOWN || e->phase > PHASE_DEAD || e->phase == row->phase)
		return;
	/* The list met it at its end: to believe that would leave a ghost, as with wake-ups. */
	if (row->phase == PHASE_DEAD && row->is_end_seen)
		return;
	if (row->phase != PHASE_UNKNOWN)
		self->totals.unordered++;
	row->is_wake_early = false;
	row->is_wake_late = false;
	row->has_block_stack = false;
	end_wait(self, row, lost_end_ns(self, row), NULL, false);
	/* Its CPU shows at its next switch: the one that is told may be out of date. */
	set_phase(self, row, e->phase, NULL);
	if (e->phase == PHASE_BLOCKED)
		begin_wait(self, row, &(struct ev_sched_switch){
			.state = SWITCH_SLEEPING,
			.object = e->object,
			.value = e->value,
			.syscall = e->syscall,
			.operation = e->operation,
		});
}

/* What was gathered in the old address space means nothing in the new one. */
static void on_exec(void *data, const struct ev_header *header)
{
	struct criticality *self = data;
	struct thread_row *row;

	if (!header->thread)
		return;
	row = advance_to(self, header, header->thread);
	drop_samples(self, row);
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
		self->gap_begin_ns = self->parallelism.now_ns;
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
		self->totals.unordered += is_alive(row->phase);
		end_wait(self, row, lost_end_ns(self, row), NULL, false);
		set_phase(self, row, PHASE_DEAD, NULL);
	}
	if (self->is_in_gap)
		self->totals.gap_ns += self->parallelism.now_ns - self->gap_begin_ns;
	self->is_in_gap = false;
}

static const struct event_handler handlers[] = {
	{ EV_SCHED_SWITCH, on_switch },
	{ EV_SCHED_WAKE, on_wake },
	{ EV_SCHED_SAMPLE, on_sample },
	{ EV_THREAD_BORN, on_born },
	{ EV_THREAD_FOUND, on_found },
	{ EV_THREAD_EXEC, on_exec },
	{ EV_COLLECT_GAP, on_gap },
	{ EV_COLLECT_SYNC_BEGIN, on_sync_begin },
	{ EV_COLLECT_SYNC_END, on_sync_end },
	{ 0, NULL },
};

struct criticality *criticality_new(struct session *session, struct threads *threads,
				    const struct criticality_options *options)
{
	struct criticality *self = xcalloc(1, sizeof(*self));

	self->options = *options;
	self->threads = threads;
	self->parallelism.nmin_option = options->nmin;
	self->rows = thread_rows_new(threads, options->threads_max);
	self->paths = call_paths_new(options->paths_max);
	self->totals.keep_min = 1;
	session_subscribe(session, handlers, self);
	return self;
}

void criticality_free(struct criticality *self)
{
	if (!self)
		return;
	for (size_t i = 0; i < self->spare_set_count; i++) {
		sample_set_fini(self->spare_sets[i]);
		free(self->spare_sets[i]);
	}
	parallelism_fini(&self->parallelism);
	thread_rows_free(self->rows);
	call_paths_free(self->paths);
	free(self);
}

void criticality_advance(struct criticality *self, uint64_t now_ns)
{
	parallelism_advance(&self->parallelism, now_ns);
}

void criticality_count_open_waits(struct criticality *self)
{
	struct thread_row *row;
	struct wait_party party;
	size_t cursor = 0;

	while (self->options.waits && (row = thread_rows_next(self->rows, &cursor))) {
		if (!row->wait.is_open)
			continue;
		party = party_of(self, row);
		waits_count_open(self->options.waits, &party, lost_end_ns(self, row));
	}
}

void criticality_uncount_open_waits(struct criticality *self)
{
	if (self->options.waits)
		waits_uncount_open(self->options.waits);
}

void criticality_finish(struct criticality *self, uint64_t now_ns)
{
	const struct parallelism *p = &self->parallelism;
	struct thread_row *row;
	size_t cursor = 0;

	parallelism_advance(&self->parallelism, now_ns);
	while ((row = thread_rows_next(self->rows, &cursor))) {
		settle(self, row);
		end_wait(self, row, lost_end_ns(self, row), NULL, row->phase == PHASE_BLOCKED);
		if (row->phase == PHASE_RUNNING) {
			end_slice(self, row, NULL);
			begin_slice(self, row);
		}
	}
	if (self->is_stalled && p->now_ns > self->stall_begin_ns) {
		self->totals.stalls++;
		self->stall_begin_ns = p->now_ns;
	}
	if (self->is_in_gap) {
		self->totals.gap_ns += p->now_ns - self->gap_begin_ns;
		self->gap_begin_ns = p->now_ns;
	}
}

/* Over all rows. */
static fixed_ns cmetric_sum(const struct criticality *self)
{
	const struct thread_metrics *metrics;
	size_t cursor = 0;
	fixed_ns sum = 0;

	while ((metrics = criticality_next_thread(self, &cursor)))
		sum += metrics->cmetric_oncpu + metrics->cmetric_runqueue;
	return sum;
}

struct criticality_totals criticality_totals(const struct criticality *self)
{
	const struct parallelism *p = &self->parallelism;
	struct criticality_totals totals = self->totals;

	totals.begin_ns = p->begin_ns;
	totals.end_ns = p->end_ns;
	totals.wall_ns = p->wall_ns;
	totals.active_ns = p->active_ns;
	totals.stalled_ns = p->stalled_ns;
	totals.critical_ns = p->critical_ns;
	totals.cmetric_ns = fixed_to_ns(cmetric_sum(self));
	totals.closure_error_ns = (int64_t)(p->wall_ns - p->stalled_ns - totals.cmetric_ns);
	totals.oncpu_cmetric_critical_ns = fixed_to_ns(self->oncpu_cmetric_critical);
	totals.alive_count = p->alive;
	totals.alive_count_max = p->alive_max;
	totals.active_count_max = p->active_max;
	totals.nmin = p->nmin_option ? p->nmin_option : p->alive < 2 ? 1 : p->alive / 2;
	return totals;
}

uint32_t criticality_active_count(const struct criticality *self)
{
	return self->parallelism.active;
}

/* Rows come first, then what was folded; the cursor's upper half tells which. */
const struct thread_metrics *criticality_next_thread(const struct criticality *self,
						     size_t *cursor)
{
	const size_t folded_base = SIZE_MAX / 2;
	const struct thread_metrics *metrics;
	struct thread_row *row;
	size_t folded;

	while (*cursor < folded_base && (row = thread_rows_next(self->rows, cursor))) {
		if (!row->was_alive)
			continue;
		settle(self, row);
		memcpy(row->metrics.name, row->thread->name, sizeof(row->metrics.name));
		row->metrics.is_alive = is_alive(row->phase);
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
