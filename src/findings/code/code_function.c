/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/code/code_function.h"

#include <math.h>

#include "base/whole.h"
#include "findings/code/findings_code.h"
#include "stacks/fold.h"

bool code_function_is_in(const struct report_blocked_code *row, const struct report_frame *function)
{
	uint64_t key = findings_code_key(function);

	for (size_t i = 0; i < row->frame_count; i++)
		if (findings_code_key(&row->frames[i]) == key)
			return true;
	return false;
}

double code_function_ns(const struct report_blocked_code *rows, size_t count, const struct report_frame *function)
{
	double ns = 0;

	for (size_t i = 0; i < count; i++)
		if (code_function_is_in(&rows[i], function))
			ns += rows[i].ns;
	return ns;
}

/* Parts of one time err against each other: the error of their sum is at most that of independent ones. */
static const struct report_blocked_code *sum_from(struct findings *findings, const struct report_blocked_code *rows,
						  size_t count, size_t frame)
{
	struct report_blocked_code *sum = arena_alloc(findings->arena, sizeof(*sum));
	double variance = 0;

	sum->frames = rows->frames + frame;
	sum->frame_count = rows->frame_count - frame;
	for (size_t i = 0; i < count; i++) {
		if (!code_function_is_in(&rows[i], sum->frames))
			continue;
		sum->ns += rows[i].ns;
		sum->samples += rows[i].samples;
		variance += (double)rows[i].error_ns * rows[i].error_ns;
	}
	sum->error_ns = whole(sqrt(variance));
	return sum;
}

const struct report_blocked_code *code_function_of(struct findings *findings, const struct report_blocked_code *rows,
						   size_t count, double min_ns,
						   bool (*is_left_out)(const struct findings *findings,
								       const struct report_frame *function))
{
	for (size_t i = 0; count && i < rows->frame_count; i++) {
		const struct report_frame *frame = &rows->frames[i];

		if (!frame->function || fold_is_plumbing(findings->input.fold, frame) ||
		    code_function_ns(rows, count, frame) < min_ns)
			continue;
		if (!is_left_out || !is_left_out(findings, frame))
			return sum_from(findings, rows, count, i);
	}
	return NULL;
}
