/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * speedscope's file format, version 0.0.1 (speedscope.app/file-format-schema.json): a sampled profile for each sum, whose samples are the
 * distinct call paths with their weights.
 */
#include "base/text.h"
#include "export/export_format.h"
#include "export/export_out.h"
#include "export/formats.h"
#include "export/stack_sums.h"

static const struct {
	enum sum_kind kind;
	const char *name;
} profiles[] = {
	{ SUM_CMETRIC, "CMetric" },
	{ SUM_LOST, "lost time" },
	{ SUM_CPU, "CPU" },
};

enum { PROFILES = sizeof(profiles) / sizeof(*profiles) };

static void put_frame(struct text *out, const struct sum_frame *frame)
{
	text_put(out, "{\"name\":");
	text_put_json_string(out, frame->name);
	if (frame->file) {
		text_put(out, ",\"file\":");
		text_put_json_string(out, frame->file);
		if (frame->line)
			text_printf(out, ",\"line\":%u", frame->line);
	}
	text_put(out, "}");
}

static void put_frames(struct export_out *out, const struct stack_sums *sums)
{
	size_t count = stack_sums_frame_count(sums);

	for (uint32_t i = 0; i < count; i++) {
		text_put(&out->text, i ? ",\n" : "");
		put_frame(&out->text, stack_sums_frame(sums, i));
		export_out_step(out);
	}
}

static void put_samples(struct export_out *out, const struct stack_sums *sums, enum sum_kind kind)
{
	const char *before = "";

	for (size_t i = 0; i < stack_sums_count(sums); i++) {
		struct sum_stack stack = stack_sums_at(sums, i);

		if (!stack.ns[kind])
			continue;
		text_put(&out->text, before);
		before = ",\n";
		for (size_t k = 0; k < stack.frame_count; k++)
			text_printf(&out->text, "%c%u", k ? ',' : '[', stack.frames[k]);
		text_put(&out->text, "]");
		export_out_step(out);
	}
}

/* Their sum. */
static uint64_t put_weights(struct export_out *out, const struct stack_sums *sums, enum sum_kind kind)
{
	const char *before = "";
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < stack_sums_count(sums); i++) {
		struct sum_stack stack = stack_sums_at(sums, i);

		if (!stack.ns[kind])
			continue;
		text_printf(&out->text, "%s%llu", before, (unsigned long long)stack.ns[kind]);
		before = ",";
		sum_ns += stack.ns[kind];
		export_out_step(out);
	}
	return sum_ns;
}

static void put_sums(void *data, const struct stack_sums *sums, const struct export_files *files)
{
	struct export_out *out = data;
	uint64_t sum_ns;

	(void)files;
	text_put(&out->text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			     "\"exporter\":\"pinch " PINCH_VERSION "\",\"activeProfileIndex\":0,\n"
			     "\"shared\":{\"frames\":[\n");
	put_frames(out, sums);
	text_put(&out->text, "]},\n\"profiles\":[");
	for (size_t i = 0; i < PROFILES; i++) {
		text_printf(&out->text,
			    "%s\n{\"type\":\"sampled\",\"name\":\"%s\",\"unit\":\"nanoseconds\",\"startValue\":0,\n"
			    "\"samples\":[",
			    i ? "," : "", profiles[i].name);
		put_samples(out, sums, profiles[i].kind);
		text_put(&out->text, "],\n\"weights\":[");
		sum_ns = put_weights(out, sums, profiles[i].kind);
		text_printf(&out->text, "],\n\"endValue\":%llu}", (unsigned long long)sum_ns);
	}
	text_put(&out->text, "]}\n");
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

const struct export_format speedscope_format = {
	.name = "speedscope",
	.help = "profiles of CMetric, lost time and CPU for speedscope.app",
	.lacks = "times, wake-ups, events, activities and CPUs",
	.begin = begin,
	.sums = put_sums,
	.end = end,
};
