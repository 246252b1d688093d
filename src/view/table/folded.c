/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table/folded.h"

#include <string.h>

#include "base/text.h"
#include "report/report.h"

enum { NS_PER_US = 1000 };

/* A semicolon separates frames. */
static void put_name(struct text *out, const char *name)
{
	size_t begin = out->length;

	text_put_escaped(out, name);
	for (size_t i = begin; i < out->length; i++)
		if (out->bytes[i] == ';')
			out->bytes[i] = ':';
}

/* The endings are those that flamegraph.pl colours by. */
static void put_frame(struct text *out, const struct report_frame *frame)
{
	if (frame->function) {
		put_name(out, frame->function);
	} else {
		put_name(out, frame->module ? frame->module : "[unknown]");
		text_printf(out, "+0x%llx", (unsigned long long)frame->offset);
	}
	text_put(out, frame->is_kernel ? "_[k]" : frame->is_inlined ? "_[i]" : "");
}

static void put_stack(struct text *out, const struct report_path *path)
{
	if (!path->frame_count)
		text_put(out, "[no stack]");
	for (size_t i = path->frame_count; i-- > 0;) {
		put_frame(out, &path->frames[i]);
		text_put(out, i ? ";" : "");
	}
}

void folded_put(struct text *out, const struct report *report)
{
	for (size_t i = 0; i < report->path_count; i++) {
		uint64_t us = (report->paths[i].cmetric_ns + NS_PER_US / 2) / NS_PER_US;

		if (!us)
			continue;
		put_stack(out, &report->paths[i]);
		text_printf(out, " %llu\n", (unsigned long long)us);
	}
}
