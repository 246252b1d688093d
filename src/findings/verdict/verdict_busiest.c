/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_busiest.h"

#include <stdbool.h>
#include <string.h>

#include "findings/parts/findings_internal.h"
#include "stacks/fold.h"

static const double most_min = 0.5;

static bool has_function(const struct report_code_stack *stack, const char *function)
{
	for (size_t i = 0; i < stack->frame_count; i++)
		if (stack->frames[i].function && !strcmp(stack->frames[i].function, function))
			return true;
	return false;
}

static double time_below(const struct report_code *code, const char *function)
{
	double ns = 0;

	for (size_t i = 0; i < code->stack_count; i++)
		if (has_function(&code->stacks[i], function))
			ns += code->stacks[i].cpu_ns;
	return ns;
}

const struct report_frame *verdict_busiest(const struct findings *findings, double *share)
{
	const struct report_code *code = &findings->report.code;
	const struct report_code_stack *most = NULL;

	for (size_t i = 0; i < code->stack_count; i++)
		if (!most || code->stacks[i].cpu_ns > most->cpu_ns)
			most = &code->stacks[i];
	for (size_t i = 0; most && code->cpu_ns && i < most->frame_count; i++) {
		const struct report_frame *frame = &most->frames[i];

		if (!frame->function || frame->is_kernel || fold_is_plumbing(findings->input.fold, frame))
			continue;
		*share = time_below(code, frame->function) / code->cpu_ns;
		if (*share >= most_min)
			return frame;
	}
	return NULL;
}
