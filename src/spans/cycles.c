/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spans/cycles.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "states/states.h"

/* What a thread has waited for is over since then. */
struct cycle {
	uint64_t begin_ns;
	bool has_begun;
};

struct finding {
	const uint32_t *threads;
	enum wait_cause cause;
	struct cycle *cycles; /* by thread */
	struct executions *out;
};

/* States that come in pieces are one wait. */
static void take_state(void *data, size_t which, const struct state *state, uint32_t cpu)
{
	struct finding *finding = data;
	struct cycle *cycle = &finding->cycles[which];
	struct executions *out = finding->out;
	bool is_wait = state->kind == STATE_BLOCKED && state->value.why == finding->cause;

	(void)cpu;
	if (is_wait && cycle->has_begun && state->begin_ns > cycle->begin_ns) {
		ARRAY_GROW(out->list, out->count, out->capacity, 64);
		out->list[out->count++] = (struct execution){
			.thread = finding->threads[which],
			.begin_thread = finding->threads[which],
			.begin_ns = cycle->begin_ns,
			.end_ns = state->begin_ns,
		};
	}
	if (is_wait || state->kind == STATE_UNKNOWN)
		*cycle = (struct cycle){ .begin_ns = state->end_ns, .has_begun = is_wait };
}

void cycles_add(struct states *states, const struct states_question *question, enum wait_cause cause,
		struct executions *out)
{
	struct finding finding = { question->threads, cause, NULL, out };

	finding.cycles = xcalloc(question->count + 1, sizeof(*finding.cycles));
	states_each_state(states, question, take_state, &finding);
	free(finding.cycles);
}
