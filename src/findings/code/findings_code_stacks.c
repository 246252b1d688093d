/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whole call paths of the code that ran, for flame graphs: places of the same functions are one. */
#include "findings/code/findings_code.h"

#include <stdlib.h>

#include "base/table.h"
#include "base/whole.h"

enum { STACKS_MAX = 500 };

struct stack {
	const struct code_place *first;
	double ns[CODE_QUANTITIES], rank_ns;
	uint64_t samples, order;
};

static uint64_t key_of(const struct code_place *place)
{
	uint64_t key = place->frame_count;

	for (size_t i = 0; i < place->frame_count; i++)
		key = hash_u64(key ^ hash_u64(findings_code_key(&place->frames[i])));
	return key;
}

static struct stack *get(struct arena *arena, struct table *by_key, const struct code_place *place)
{
	uint64_t key = key_of(place);
	struct stack *stack = table_find(by_key, key);

	if (stack)
		return stack;
	stack = arena_alloc(arena, sizeof(*stack));
	stack->first = place;
	stack->order = table_count(by_key);
	table_put(by_key, key, stack);
	return stack;
}

static int by_rank(const void *a, const void *b)
{
	const struct stack *x = *(struct stack *const *)a, *y = *(struct stack *const *)b;

	if (x->rank_ns != y->rank_ns)
		return x->rank_ns < y->rank_ns ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static struct report_code_stack as_row(const struct stack *stack)
{
	return (struct report_code_stack){
		.samples = stack->samples,
		.cpu_ns = whole(stack->ns[CODE_CPU] + 0.5),
		.cmetric_ns = whole(stack->ns[CODE_CMETRIC] + 0.5),
		.critical_ns = whole(stack->ns[CODE_CRITICAL] + 0.5),
		.frames = stack->first->frames,
		.frame_count = stack->first->frame_count,
	};
}

static void add_rows(struct findings *findings, struct stack **all, size_t count)
{
	struct report_code *code = &findings->report.code;
	struct report_code_stack *rows;
	size_t limit = findings->input.path_count_max < STACKS_MAX ? findings->input.path_count_max : STACKS_MAX;

	code->stack_count = count < limit ? count : limit;
	rows = arena_alloc(findings->arena, code->stack_count * sizeof(*rows));
	for (size_t i = 0; i < code->stack_count; i++)
		rows[i] = as_row(all[i]);
	code->stacks = rows;
}

void findings_add_code_stacks(struct findings *findings, const struct code_places *places)
{
	struct arena *arena = arena_new();
	struct table *by_key = table_new();
	struct stack **all, *stack;
	size_t cursor = 0, count = 0;

	for (size_t i = 0; i < places->count; i++) {
		const struct code_place *place = &places->list[i];

		if (!place->sample)
			continue;
		stack = get(arena, by_key, place);
		stack->samples += place->sample->weights.count;
		for (size_t k = 0; k < CODE_QUANTITIES; k++)
			stack->ns[k] += place->ns[k];
		stack->rank_ns += place->ns[places->quantity];
	}
	all = xcalloc(table_count(by_key) + 1, sizeof(*all));
	while ((stack = table_next(by_key, &cursor)))
		all[count++] = stack;
	qsort(all, count, sizeof(*all), by_rank);
	add_rows(findings, all, count);
	free(all);
	table_free(by_key);
	arena_free(arena);
}
