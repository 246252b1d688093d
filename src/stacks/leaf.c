/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stacks/leaf.h"

#include <stdbool.h>
#include <string.h>

#include "report/report_frame.h"

static bool is_managed(const struct report_frame *frame)
{
	return frame->module && (!strcmp(frame->module, "[python]") || !strcmp(frame->module, "[ruby]"));
}

const struct report_frame *stack_leaf(const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = frames, *end = frames + count, *interpreter;

	while (frame != end && !is_managed(frame))
		frame++;
	if (frame == end || frame == frames)
		return frames;
	interpreter = frame - 1;
	for (const struct report_frame *inner = frames; inner != interpreter; inner++)
		if (!inner->is_kernel &&
		    (!inner->module || !interpreter->module || strcmp(inner->module, interpreter->module) != 0))
			return frames;
	return frame;
}
