/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "state_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "states/states.h"

typedef uint64_t columns_ns[STATES_COLUMNS][SHARES];

struct columns {
	uint64_t from_ns, to_ns;
	unsigned int shift;
	size_t count;
	columns_ns *said; /* [count] */
	bool is_bad;      /* a part that makes no sense was told */
};

static struct columns columns_at(uint64_t time_ns, unsigned int shift, size_t count)
{
	struct columns columns = {
		.from_ns = time_ns >> (shift + 8) << (shift + 8),
		.shift = shift,
		.count = count,
		.said = xcalloc(count + 1, sizeof(*columns.said)),
	};

	columns.to_ns = columns.from_ns + (1ull << (shift + 8));
	return columns;
}

static void add(const struct columns *columns, columns_ns *to, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	for (uint64_t at_ns = begin_ns; at_ns < end_ns;) {
		uint64_t column = (at_ns - columns->from_ns) >> columns->shift;
		uint64_t until_ns = columns->from_ns + ((column + 1) << columns->shift);

		until_ns = until_ns < end_ns ? until_ns : end_ns;
		(*to)[column][share] += until_ns - at_ns;
		at_ns = until_ns;
	}
}

/* As walks tell them: they may reach beyond the columns. */
static void add_clipped(const struct columns *columns, columns_ns *to, uint64_t begin_ns, uint64_t end_ns,
			unsigned int share)
{
	begin_ns = begin_ns > columns->from_ns ? begin_ns : columns->from_ns;
	end_ns = end_ns < columns->to_ns ? end_ns : columns->to_ns;
	add(columns, to, begin_ns, end_ns, share);
}

static void take_part(void *data, size_t which, uint64_t begin_ns, uint64_t end_ns, unsigned int share)
{
	struct columns *columns = data;

	if (which >= columns->count || share >= SHARES || begin_ns >= end_ns || begin_ns < columns->from_ns ||
	    end_ns > columns->to_ns)
		columns->is_bad = true;
	else
		add(columns, &columns->said[which], begin_ns, end_ns, share);
}

bool thread_columns_agree(struct states *states, const uint32_t *numbers, size_t count, uint64_t time_ns,
			  unsigned int shift)
{
	struct columns columns = columns_at(time_ns, shift, count);
	struct state_walk walk;
	struct state state;
	bool agree;

	states_each_part(states, numbers, count, columns.from_ns, shift, NULL, take_part, &columns);
	agree = !columns.is_bad;
	for (size_t i = 0; i < count && agree; i++) {
		columns_ns is = { 0 };

		states_walk(states, numbers[i], columns.from_ns, columns.to_ns, &walk);
		while (state_walk_next(&walk, &state))
			add_clipped(&columns, &is, state.begin_ns, state.end_ns,
				    state_share(state.kind, state.value.why));
		agree = !memcmp(is, columns.said[i], sizeof(is));
	}
	free(columns.said);
	return agree;
}

bool cpu_columns_agree(struct states *states, uint32_t cpu, uint64_t time_ns, unsigned int shift)
{
	struct columns columns = columns_at(time_ns, shift, 1);
	struct cpu_state state;
	columns_ns is = { 0 };
	struct cpu_walk walk;
	bool agree;

	states_each_cpu_part(states, cpu, columns.from_ns, shift, take_part, &columns);
	states_walk_cpu(states, cpu, columns.from_ns, columns.to_ns, &walk);
	while (cpu_walk_next(&walk, &state))
		add_clipped(&columns, &is, state.begin_ns, state.end_ns, cpu_state_share(&state));
	agree = !columns.is_bad && !memcmp(is, columns.said[0], sizeof(is));
	free(columns.said);
	return agree;
}
