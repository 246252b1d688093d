/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/lanes_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "lanes/lanes.h"
#include "lanes/tile.h"
#include "query/trace_states.h"
#include "results/results.h"
#include "states/state_gaps.h"
#include "states/states.h"
#include "view/json/json_fields.h"

static const char *const cpu_shares[CPU_SHARES] = {
	[CPU_SHARE_UNKNOWN] = "unknown",
	[CPU_SHARE_TRACED] = "traced",
	[CPU_SHARE_OTHER] = "other program",
	[CPU_SHARE_IDLE] = "idle",
};

static const char *const active_shares[SHARE_BLOCKED] = { "unknown", "running", "spinning", "runnable" };

const char *lane_share_name(unsigned int share)
{
	return share < SHARE_BLOCKED ? active_shares[share] : wait_cause_name(share - SHARE_BLOCKED);
}

static struct result_lane result_of(const struct lanes *lanes, size_t i, uint64_t first_ns)
{
	const struct lane *lane = &lanes->list[i];
	bool is_cpu = lane->kind == LANE_CPU;

	return (struct result_lane){
		.id = i,
		.kind = lane->kind,
		.has_parent = lane->parent != LANE_NONE,
		.parent = lane->parent,
		.name = lane->name,
		.tid = lane->tid,
		.pid = lane->pid,
		.cpu = lane->cpu,
		.thread = lane->kind == LANE_THREAD ? lanes->threads[lane->first_thread].number : 0,
		.threads = lane->thread_count,
		.begin_ns = is_cpu ? 0 : (int64_t)(lane->begin_ns - first_ns),
		.end_ns = is_cpu ? 0 : (int64_t)(lane->end_ns - first_ns),
		.ns = lane->ns,
		.ns_count = is_cpu ? 0 : SHARES,
		.lost_ns = lane_lost_ns(lane),
		.is_idle = lane_is_idle(lane),
	};
}

void lanes_put_key(uint64_t key, char text[static LANES_KEY_BYTES])
{
	snprintf(text, LANES_KEY_BYTES, "%016llx", (unsigned long long)key);
}

/* To be freed. */
static struct result_viewed_gap *gaps_of(const struct state_gaps *gaps, uint64_t first_ns)
{
	struct result_viewed_gap *results = xcalloc(gaps->count + 1, sizeof(*results));

	for (size_t i = 0; i < gaps->count; i++)
		results[i] = (struct result_viewed_gap){ gaps->gaps[i].begin_ns - first_ns,
							 gaps->gaps[i].end_ns - first_ns };
	return results;
}

void lanes_put_json(struct text *out, const char *name, const struct trace_states *all, const struct lanes *lanes)
{
	uint64_t first_ns = trace_states_time(all, 0);
	struct result_lane *results = xcalloc(lanes->count + 1, sizeof(*results));
	const struct state_gaps *gaps = states_gaps(all->states);
	struct result_viewed_gap *gap_results = gaps_of(gaps, first_ns);
	const char *shares[SHARES];
	char key[LANES_KEY_BYTES];

	for (unsigned int share = 0; share < SHARES; share++)
		shares[share] = lane_share_name(share);
	for (size_t i = 0; i < lanes->count; i++)
		results[i] = result_of(lanes, i, first_ns);
	lanes_put_key(lanes_key(all, lanes), key);
	json_put_document(out, result_viewed_type(),
			  &(struct result_viewed){
				  .name = name,
				  .is_ready = true,
				  .first_ns = first_ns,
				  .begin_ns = states_begin_ns(all->states) - first_ns,
				  .whole_ns = states_end_ns(all->states) - first_ns,
				  .origin_ns = tile_origin_ns(first_ns) - first_ns,
				  .shares = shares,
				  .share_count = SHARES,
				  .cpu_shares = cpu_shares,
				  .cpu_share_count = CPU_SHARES,
				  .lanes = results,
				  .lane_count = lanes->count,
				  .left_out = lanes->left_out,
				  .key = key,
				  .is_live = states_are_growing(all->states),
				  .gaps = gap_results,
				  .gap_count = gaps->count,
			  });
	free(gap_results);
	free(results);
}
