/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table/folded.h"

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

void folded_put_stack(struct text *out, const struct report_frame *frames, size_t count)
{
	if (!count)
		text_put(out, "[no stack]");
	for (size_t i = count; i-- > 0;) {
		put_frame(out, &frames[i]);
		text_put(out, i ? ";" : "");
	}
}

uint64_t folded_us(uint64_t ns)
{
	return (ns + NS_PER_US / 2) / NS_PER_US;
}

static void put_line(struct text *out, const struct report_frame *frames, size_t count, uint64_t ns)
{
	if (!folded_us(ns))
		return;
	folded_put_stack(out, frames, count);
	text_printf(out, " %llu\n", (unsigned long long)folded_us(ns));
}

void folded_put(struct text *out, const struct report *report)
{
	const struct report_code *code = &report->code;

	for (size_t i = 0; i < code->stack_count; i++)
		put_line(out, code->stacks[i].frames, code->stacks[i].frame_count,
			 code->is_critical ? code->stacks[i].critical_ns : code->stacks[i].cmetric_ns);
	for (size_t i = 0; i < report->path_count && !code->samples; i++)
		put_line(out, report->paths[i].frames, report->paths[i].frame_count, report->paths[i].cmetric_ns);
}
