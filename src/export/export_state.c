/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export_state.h"

#include "events.h"
#include "export/export_names.h"
#include "export/export_walk.h"
#include "export/stack_sums.h"
#include "graph/wait_end.h"
#include "lanes/lanes_json.h"
#include "lanes/state_json.h"
#include "values.h"

static void put_slice(struct export_walk *walk, const struct export_slice *slice)
{
	if (!walk->format->slice)
		return;
	walk->counts->slices++;
	walk->format->slice(walk->data, slice);
}

/* --- Sums ------------------------------------------------------------------------------------- */

static void add_wait(struct export_walk *walk, const struct export_slice *slice)
{
	uint64_t ns = slice->end_ns - slice->begin_ns;
	uint32_t path = stack_sums_path(walk->sums, &(struct sum_part){
							    .thread = slice->thread->name,
							    .cause = slice->state,
							    .object = slice->object,
							    .frames = slice->frames,
							    .frame_count = slice->frame_count,
						    });

	stack_sums_add(walk->sums, path, SUM_LOST, ns);
	if (slice->share == SHARE_BLOCKED + CAUSE_LOCK)
		stack_sums_add(walk->sums, path, SUM_LOCK, ns);
	stack_sums_add(walk->sums, path, SUM_CMETRIC, slice->cmetric_ns);
}

static void add_running(struct export_walk *walk, struct walked_thread *thread, const struct sum_part *part)
{
	uint32_t path = stack_sums_path(walk->sums, part);

	stack_sums_add(walk->sums, path, SUM_CPU, thread->unsampled_ns);
	stack_sums_add(walk->sums, path, SUM_CMETRIC, thread->unsampled_cmetric_ns);
}

/* A sample of now, with what the thread ran since its last one. */
static struct export_sample sample_of(const struct export_walk *walk, const struct walked_thread *thread)
{
	return (struct export_sample){
		.thread = &thread->thread,
		.time_ns = walk->now_ns,
		.cpu_ns = thread->unsampled_ns,
		.cmetric_ns = thread->unsampled_cmetric_ns,
	};
}

static void add_unsampled(struct export_walk *walk, struct walked_thread *thread)
{
	struct export_sample rest = sample_of(walk, thread);

	if (walk->format->unsampled)
		walk->format->unsampled(walk->data, &rest);
	if (walk->sums)
		add_running(walk, thread, &(struct sum_part){ .thread = thread->thread.name, .object = "[no sample]" });
}

void export_unsampled(struct export_walk *walk)
{
	for (size_t i = 0; i < walk->count; i++) {
		struct walked_thread *thread = &walk->threads[i];

		if (thread->is_chosen && (thread->unsampled_ns || thread->unsampled_cmetric_ns))
			add_unsampled(walk, thread);
	}
}

/* --- States ----------------------------------------------------------------------------------- */

void export_state(struct export_walk *walk, struct walked_thread *thread)
{
	const struct state *state = &thread->state;
	bool is_wait = state->kind == STATE_BLOCKED;
	bool is_active = state->kind != STATE_UNKNOWN && !is_wait;
	struct export_slice slice = {
		.thread = &thread->thread,
		.begin_ns = state->begin_ns,
		.end_ns = walk->now_ns,
		.share = state_share(state->kind, state->value.why),
		.cmetric_ns = is_active ? export_walk_cmetric_ns(walk, thread) : 0,
		.cpu = state->cpu,
		.has_cpu = (state->kind == STATE_RUNNING || state->kind == STATE_SPINNING) && state->cpu < CPUS_MAX,
		.woken_by = thread->woken_by,
	};
	struct graph_wait wait;

	slice.state = lane_share_name(slice.share);
	if (is_wait) {
		wait = graph_wait_of(thread->thread.number, state);
		slice.object = export_names_object(walk->names, &wait);
		slice.frame_count = export_names_wait(walk->names, &wait, &slice.frames);
		if (walk->format->slice && state->end_ns == walk->now_ns)
			slice.ended_by = state_ended_by(walk->options->labels, &state->ended);
	}
	put_slice(walk, &slice);
	if (walk->sums && (is_wait || state->kind == STATE_RUNNABLE))
		add_wait(walk, &slice);
}

/* --- Samples ---------------------------------------------------------------------------------- */

void export_sample(struct export_walk *walk, struct walked_thread *thread, const struct ev_sched_sample *e)
{
	const struct report_frame *frames;
	size_t count = export_names_sample(walk->names, thread->thread.number, e, &frames);
	struct export_sample sample;

	if (thread->is_open && (thread->state.kind == STATE_RUNNING || thread->state.kind == STATE_SPINNING))
		export_walk_mark(walk, thread);
	sample = sample_of(walk, thread);
	sample.time_ns = e->header.time_ns;
	sample.frames = frames;
	sample.frame_count = count;
	walk->counts->samples++;
	if (walk->format->sample)
		walk->format->sample(walk->data, &sample);
	if (walk->sums)
		add_running(walk, thread,
			    &(struct sum_part){
				    .thread = thread->thread.name,
				    .object = count ? NULL : "[no stack]",
				    .frames = frames,
				    .frame_count = count,
			    });
	thread->unsampled_ns = 0;
	thread->unsampled_cmetric_ns = 0;
}
