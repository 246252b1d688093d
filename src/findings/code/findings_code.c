/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions by what ran in them: self is what samples found there, total what ran in them and in what they
 * called, once for each sample however often they are on its stack.
 */
#include "findings/code/findings_code.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/whole.h"
#include "findings/names/line_list.h"
#include "stacks/fold.h"
#include "stacks/leaf.h"

enum { LINES_MAX = 16 };

struct function {
	struct report_code_function row;
	const struct report_frame *frame; /* one of it */
	struct code_sum self, total;
	struct report_line lines[LINES_MAX];
	size_t last_place; /* that was added to total, plus 1 */
	size_t order;
};

/* --- Functions ------------------------------------------------------------------------------------ */

static struct function *get_function(struct findings *findings, struct table *by_key, const struct report_frame *frame)
{
	uint64_t key = findings_code_key(frame);
	struct function *function = table_find(by_key, key);

	if (function)
		return function;
	function = arena_alloc(findings->arena, sizeof(*function));
	function->row.name = findings_code_name(findings, frame);
	function->row.module = frame->module;
	function->frame = frame;
	function->row.lines = function->lines;
	function->order = table_count(by_key);
	table_put(by_key, key, function);
	return function;
}

static void add_place(struct findings *findings, struct table *by_key, const struct code_places *places, size_t index)
{
	const struct code_place *place = &places->list[index];
	const struct report_frame *leaf = place->frame_count ? stack_leaf(place->frames, place->frame_count) : NULL;
	struct function *function;

	for (size_t i = 0; i < place->frame_count; i++) {
		function = get_function(findings, by_key, &place->frames[i]);
		if (&place->frames[i] == leaf) {
			code_sum_add(places->shares, &function->self, place->sample);
			line_list_add(function->lines, &function->row.line_count, LINES_MAX, leaf->file, leaf->line,
				      place->sample->weights.count);
		}
		if (function->last_place != index + 1)
			code_sum_add(places->shares, &function->total, place->sample);
		function->last_place = index + 1;
	}
}

static int by_critical(const void *a, const void *b)
{
	const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;
	const struct report_code_time *s = &x->row.self, *t = &y->row.self;

	if (s->critical_ns != t->critical_ns)
		return s->critical_ns < t->critical_ns ? 1 : -1;
	if (s->cmetric_ns != t->cmetric_ns)
		return s->cmetric_ns < t->cmetric_ns ? 1 : -1;
	if (x->row.total.cmetric_ns != y->row.total.cmetric_ns)
		return x->row.total.cmetric_ns < y->row.total.cmetric_ns ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_cmetric(const void *a, const void *b)
{
	const struct function *x = *(struct function *const *)a, *y = *(struct function *const *)b;

	if (x->row.self.cmetric_ns != y->row.self.cmetric_ns)
		return x->row.self.cmetric_ns < y->row.self.cmetric_ns ? 1 : -1;
	return by_critical(a, b);
}

/* Callers have all that those have whom they call: of functions that have most of the CPU time, the innermost has least. */
static void put_busiest(struct findings *findings, struct function *const *all, size_t count)
{
	static const double most_min = 0.5;
	struct report_code *code = &findings->report.code;
	const struct function *busiest = NULL;

	for (size_t i = 0; i < count && code->cpu_ns; i++) {
		const struct function *function = all[i];
		uint64_t cpu_ns = function->row.total.cpu_ns;

		if (cpu_ns < most_min * code->cpu_ns || !function->frame->function ||
		    fold_is_plumbing(findings->input.fold, function->frame))
			continue;
		if (!busiest || cpu_ns < busiest->row.total.cpu_ns ||
		    (cpu_ns == busiest->row.total.cpu_ns && function->order < busiest->order))
			busiest = function;
	}
	if (!busiest)
		return;
	code->busiest = busiest->frame;
	code->busiest_share = fmin((double)busiest->row.total.cpu_ns / code->cpu_ns, 1);
}

static void add_functions(struct findings *findings, const struct code_places *places)
{
	struct report_code *code = &findings->report.code;
	struct table *by_key = table_new();
	struct report_code_function *rows;
	struct function **all, *function;
	size_t cursor = 0, count = 0;

	for (size_t i = 0; i < places->count; i++)
		add_place(findings, by_key, places, i);
	all = xcalloc(table_count(by_key) + 1, sizeof(*all));
	while ((function = table_next(by_key, &cursor))) {
		function->row.self = findings_code_time(places, &function->self);
		function->row.total = findings_code_time(places, &function->total);
		line_list_sort(function->lines, function->row.line_count);
		all[count++] = function;
	}
	table_free(by_key);
	put_busiest(findings, all, count);
	qsort(all, count, sizeof(*all), places->quantity == CODE_CRITICAL ? by_critical : by_cmetric);
	code->function_count = count < REPORT_CODE_FUNCTIONS_MAX ? count : REPORT_CODE_FUNCTIONS_MAX;
	rows = arena_alloc(findings->arena, code->function_count * sizeof(*rows));
	for (size_t i = 0; i < code->function_count; i++)
		rows[i] = all[i]->row;
	code->functions = rows;
	free(all);
}

static void add_totals(struct findings *findings, const struct code_places *places)
{
	struct report_code *code = &findings->report.code;
	double unnamed_ns = 0;

	for (size_t i = 0; i < places->count; i++)
		if (!places->list[i].sample)
			unnamed_ns += places->list[i].ns[CODE_CRITICAL];
	code->samples = code_shares_count(places->shares);
	code->is_critical = places->quantity == CODE_CRITICAL;
	code->cpu_ns = whole(code_shares_exact_ns(places->shares, CODE_CPU) + 0.5);
	code->cmetric_ns = whole(code_shares_exact_ns(places->shares, CODE_CMETRIC) + 0.5);
	code->critical_ns = whole(code_shares_exact_ns(places->shares, CODE_CRITICAL) + 0.5);
	code->unsampled_ns = whole(code_shares_unsampled_ns(places->shares, CODE_CRITICAL) + 0.5);
	code->unnamed_ns = whole(unnamed_ns + 0.5);
}

void findings_add_code(struct findings *findings)
{
	struct code_places *places;

	if (!findings->input.code || !code_samples_with_stack(findings->input.code))
		return;
	places = code_places_new(findings);
	findings->code_source = code_shares_source(places->shares);
	/* Samples beside the tick alone tell too little: paths are those of slices then. */
	if (!places->count) {
		code_places_free(places);
		return;
	}
	add_totals(findings, places);
	add_functions(findings, places);
	findings_add_code_stacks(findings, places);
	findings_add_collections(findings, places);
	findings_add_code_paths(findings, places);
	code_places_free(places);
}
