/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spans/cycles.h"

#include <stdbool.h>

#include "base/memory.h"
#include "states/states.h"

/* States that the walk hands out in pieces are one wait. */
void cycles_add(struct states *states, uint32_t thread, enum wait_cause cause, uint64_t from_ns, uint64_t to_ns,
		struct executions *out)
{
	struct state_walk walk;
	struct state state;
	uint64_t begin_ns = 0;
	bool has_begun = false;

	states_walk(states, thread, from_ns, to_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		bool is_wait = state.kind == STATE_BLOCKED && state.value.why == cause;

		if (is_wait && has_begun && state.begin_ns > begin_ns) {
			ARRAY_GROW(out->list, out->count, out->capacity, 64);
			out->list[out->count++] = (struct execution){
				.thread = thread,
				.begin_thread = thread,
				.begin_ns = begin_ns,
				.end_ns = state.begin_ns,
			};
		}
		if (is_wait || state.kind == STATE_UNKNOWN) {
			has_begun = is_wait;
			begin_ns = state.end_ns;
		}
	}
}
