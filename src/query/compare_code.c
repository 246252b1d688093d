/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/compare_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/reasons.h"
#include "compare/sampled_code.h"
#include "query/compare_source.h"
#include "spans/execution.h"

/* Reasons beyond these are reported without their functions. */
enum { NAMED_MAX = 10 };

void compare_code_add(struct compare_code *code, unsigned int side, struct compare_source *source,
		      const struct execution *execution, uint64_t running_ns)
{
	struct compare_code_side *s = &code->sides[side];

	s->source = source;
	ARRAY_GROW(s->parts, s->count, s->capacity, 64);
	s->parts[s->count++] = (struct ran_part){
		.thread = execution->thread,
		.begin_ns = execution->begin_ns,
		.end_ns = execution->end_ns,
		.running_ns = running_ns,
	};
}

static double scale_of(const struct compare_code_side *side, const struct comparison *comparison, unsigned int index)
{
	double duration_ns = comparison->sides[index].figures[FIGURE_DURATION].mean;

	if (!comparison->is_of_runs)
		return side->count ? 1.0 / side->count : 0;
	return comparison->is_per_second && duration_ns > 0 ? 1e9 / duration_ns : 1;
}

/* runner: threads of which label; "": all. */
static void fill(const struct compare_code_side *side, const char *runner, const struct sampled_options *options,
		 struct side_code *out)
{
	struct ran_part *parts = xcalloc(side->count + 1, sizeof(*parts));
	size_t count = 0;

	for (size_t i = 0; i < side->count; i++)
		if (!*runner || !strcmp(compare_source_thread(side->source, side->parts[i].thread), runner))
			parts[count++] = side->parts[i];
	side_code_init(out);
	if (side->source)
		sampled_code_add(out, compare_source_samples(side->source), side->source->trace.labels, parts, count,
				 options);
	free(parts);
}

static void find(const struct compare_code *code, const struct comparison *comparison, const char *runner,
		 bool is_by_own, struct side_code sides[SIDES], struct code_changes *out)
{
	const struct sampled_options options = { is_by_own, !comparison->is_of_runs };
	double scales[SIDES];

	for (unsigned int i = 0; i < SIDES; i++) {
		fill(&code->sides[i], runner, &options, &sides[i]);
		scales[i] = scale_of(&code->sides[i], comparison, i);
	}
	code_changes_find(sides, scales, comparison_least_ns(comparison), !is_by_own, out);
}

void compare_code_find(struct compare_code *code, const struct comparison *comparison)
{
	find(code, comparison, "", false, code->all, &code->changes);
}

void compare_code_name(struct compare_code *code, const struct comparison *comparison, struct reasons *reasons)
{
	for (size_t i = 0; i < reasons->count && i < NAMED_MAX; i++) {
		const char *runner = reason_runner(comparison, &reasons->list[i]);
		struct side_code sides[SIDES];
		struct code_changes changes;

		if (!runner)
			continue;
		find(code, comparison, runner, true, sides, &changes);
		reason_name(&reasons->list[i], &changes);
		code_changes_fini(&changes);
		for (unsigned int k = 0; k < SIDES; k++)
			side_code_fini(&sides[k]);
	}
}

void compare_code_fini(struct compare_code *code)
{
	code_changes_fini(&code->changes);
	for (unsigned int i = 0; i < SIDES; i++) {
		side_code_fini(&code->all[i]);
		free(code->sides[i].parts);
	}
	*code = (struct compare_code){ 0 };
}
