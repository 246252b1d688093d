/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/stretch_json.h"

#include <stdlib.h>

#include "base/memory.h"
#include "lanes/lanes.h"
#include "query/trace_states.h"
#include "results/results.h"
#include "states/states.h"
#include "view/json/json_fields.h"

static void add_lane(const struct trace_states *all, const struct lanes *lanes, const struct lane *lane,
		     uint64_t from_ns, uint64_t to_ns, uint64_t ns[SHARES])
{
	for (size_t i = 0; i < lane->thread_count; i++) {
		const struct lane_thread *thread = &lanes->threads[lane->first_thread + i];

		if (thread->end_ns > from_ns && thread->begin_ns < to_ns)
			states_add_shares(all->states, thread->number, from_ns, to_ns, ns);
	}
}

void stretch_put_json(struct text *out, const struct trace_states *all, const struct lanes *lanes, const uint32_t *ids,
		      size_t count, uint64_t from_ns, uint64_t to_ns)
{
	struct result_lane_shares *results = xcalloc(count + 1, sizeof(*results));
	uint64_t(*ns)[SHARES] = xcalloc(count + 1, sizeof(*ns)), first_ns = trace_states_time(all, 0);

	for (size_t i = 0; i < count; i++) {
		const struct lane *lane = &lanes->list[ids[i]];

		add_lane(all, lanes, lane, from_ns, to_ns, ns[i]);
		results[i] = (struct result_lane_shares){
			.lane = ids[i],
			.ns = ns[i],
			.ns_count = lane->kind == LANE_CPU ? 0 : SHARES,
		};
	}
	json_put_document(out, result_stretch_type(),
			  &(struct result_stretch){
				  .from_ns = from_ns - first_ns,
				  .to_ns = to_ns - first_ns,
				  .lanes = results,
				  .lane_count = count,
			  });
	free(results);
	free(ns);
}
