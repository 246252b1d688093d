/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks, a line each: what is summed, the cause of a wait, the thread, frames from the outermost one on, ns. */

#include "base/text.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/stack_sums.h"

/* A semicolon separates frames. */
static void put_frame(struct text *out, const char *name)
{
	for (; *name; name++)
		text_put_bytes(out, *name == ';' ? ":" : name, 1);
}

static void put_line(struct text *out, const struct stack_sums *sums, const struct sum_stack *stack, enum sum_kind kind)
{
	text_put(out, sum_kind_names[kind]);
	if (stack->cause) {
		text_put(out, ";");
		text_put(out, stack->cause);
	}
	for (size_t i = 0; i < stack->frame_count; i++) {
		text_put(out, ";");
		put_frame(out, stack_sums_frame(sums, stack->frames[i])->name);
	}
	text_printf(out, " %llu\n", (unsigned long long)stack->ns[kind]);
}

static void put_sums(void *data, const struct stack_sums *sums, const struct export_files *files)
{
	struct export_out *out = data;

	(void)files;
	for (size_t i = 0; i < stack_sums_count(sums); i++) {
		struct sum_stack stack = stack_sums_at(sums, i);

		for (unsigned int kind = 0; kind < SUM_KINDS; kind++)
			if (stack.ns[kind] && kind != SUM_LOCK)
				put_line(&out->text, sums, &stack, kind);
		export_out_step(out);
	}
}

static void *begin(struct export_out *out, const struct trace_states *all)
{
	(void)all;
	return out;
}

static void end(void *data)
{
	(void)data;
}

const struct export_format folded_format = {
	.name = "folded",
	.help = "a line each call path, for flame graph tools",
	.lacks = "times, wake-ups, events, activities, CPUs and source lines",
	.begin = begin,
	.sums = put_sums,
	.end = end,
};
