/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table/folded_difference.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "report/report.h"
#include "view/table/folded.h"

struct line {
	const char *stack;
	uint64_t ns[2];
};

struct lines {
	struct arena *arena;
	struct table *by_stack; /* places in list, plus 1 */
	struct line *list;
	size_t count, capacity;
};

static struct line *get(struct lines *lines, const char *stack)
{
	uint64_t key = hash_string(1, stack);
	uintptr_t at = (uintptr_t)table_find(lines->by_stack, key);

	if (at)
		return &lines->list[at - 1];
	ARRAY_GROW(lines->list, lines->count, lines->capacity, 64);
	lines->list[lines->count] = (struct line){ .stack = arena_strdup(lines->arena, stack) };
	table_put(lines->by_stack, key, (void *)(uintptr_t)(lines->count + 1));
	return &lines->list[lines->count++];
}

static void add(struct lines *lines, unsigned int side, const struct report_frame *frames, size_t count, uint64_t ns)
{
	struct text stack = { 0 };

	folded_put_stack(&stack, frames, count);
	get(lines, stack.bytes)->ns[side] += ns;
	text_fini(&stack);
}

static void add_report(struct lines *lines, unsigned int side, const struct report *report)
{
	const struct report_code *code = &report->code;

	for (size_t i = 0; i < code->stack_count; i++)
		add(lines, side, code->stacks[i].frames, code->stacks[i].frame_count, code->stacks[i].cmetric_ns);
	for (size_t i = 0; i < report->path_count && !code->samples; i++)
		add(lines, side, report->paths[i].frames, report->paths[i].frame_count, report->paths[i].cmetric_ns);
}

void folded_put_difference(struct text *out, const struct report *first, const struct report *second)
{
	struct lines lines = { .arena = arena_new(), .by_stack = table_new() };

	add_report(&lines, 0, first);
	add_report(&lines, 1, second);
	for (size_t i = 0; i < lines.count; i++) {
		uint64_t us[2] = { folded_us(lines.list[i].ns[0]), folded_us(lines.list[i].ns[1]) };

		if (us[0] || us[1])
			text_printf(out, "%s %llu %llu\n", lines.list[i].stack, (unsigned long long)us[0],
				    (unsigned long long)us[1]);
	}
	table_free(lines.by_stack);
	arena_free(lines.arena);
	free(lines.list);
}
