/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/sampled_code.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "compare/side_code.h"
#include "graph/graph_label.h"
#include "report/report_frame.h"
#include "stacks/leaf.h"
#include "whatif/run_code.h"

/* A thread with as many samples is scaled by itself, and one with so few that they say nothing is left out. */
enum { ALONE_MIN = 16, EXPECTED_MIN = 12 };
static const double sampled_share_min = 0.25;

/* Samples that are scaled together: of a thread, or of all threads that have few. */
struct stratum {
	double running_ns;
	uint64_t count;
	bool is_alone, is_hidden;
};

/* Samples of a function where it ran itself, and where it is on the stack. */
struct counts {
	uint64_t self, total;
};

struct function {
	struct counts of_part, of_stratum;
	double self_variance, total_variance; /* ns^2 */
	double self_squares, total_squares;   /* of parts, ns^2 */
};

/* The functions of a place: [0] is where it ran, if it has any. */
struct place {
	uint32_t *functions;
	size_t count;
	bool is_known;
};

/* A part with its samples. */
struct member {
	const struct ran_part *part;
	struct stratum *stratum;
	size_t first, end;
};

struct sampling {
	struct side_code *code;
	const struct run_code *samples;
	const struct graph_labels *labels;
	const struct sampled_options *options;
	struct member *members;
	size_t count;
	struct table *strata; /* by thread */
	struct arena *arena;
	struct stratum pool;
	struct place *places;
	struct function *functions;
	size_t function_capacity;
	uint32_t *in_part, *in_stratum; /* functions that were met */
	size_t in_part_count, in_stratum_count;
	double weight_ns_max;
};

/* --- Which samples ------------------------------------------------------------------------------ */

/* The first sample of the thread that is not before that time, or the first one behind those of the thread. */
static size_t find_sample(const struct run_code *code, uint32_t thread, uint64_t time_ns)
{
	size_t low = 0, high = code->sample_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct run_sample_at *sample = &code->samples[middle];

		if (sample->thread < thread || (sample->thread == thread && sample->time_ns < time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_member(struct sampling *s, const struct ran_part *part)
{
	struct stratum *stratum = table_find(s->strata, part->thread);
	struct member *member = &s->members[s->count++];

	if (!stratum) {
		stratum = arena_alloc(s->arena, sizeof(*stratum));
		table_put(s->strata, part->thread, stratum);
	}
	*member = (struct member){
		.part = part,
		.stratum = stratum,
		.first = find_sample(s->samples, part->thread, part->begin_ns),
		.end = find_sample(s->samples, part->thread, part->end_ns),
	};
	stratum->running_ns += part->running_ns;
	stratum->count += member->end - member->first;
}

static void judge_strata(struct sampling *s)
{
	double running_ns = 0, count = 0;
	struct stratum *stratum;

	for (size_t cursor = 0; (stratum = table_next(s->strata, &cursor));) {
		running_ns += stratum->running_ns;
		count += stratum->count;
	}
	for (size_t cursor = 0; (stratum = table_next(s->strata, &cursor));) {
		double expected = running_ns ? stratum->running_ns * count / running_ns : 0;

		stratum->is_hidden = expected >= EXPECTED_MIN && stratum->count < sampled_share_min * expected;
		stratum->is_alone = !stratum->is_hidden && stratum->count >= ALONE_MIN;
		if (stratum->is_hidden || stratum->is_alone)
			continue;
		s->pool.running_ns += stratum->running_ns;
		s->pool.count += stratum->count;
	}
}

/* Those that are scaled together are beside each other. */
static int by_stratum(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->stratum->is_alone != y->stratum->is_alone)
		return x->stratum->is_alone ? -1 : 1;
	if (x->part->thread != y->part->thread)
		return x->part->thread < y->part->thread ? -1 : 1;
	return x->part->begin_ns < y->part->begin_ns ? -1 : x->part->begin_ns > y->part->begin_ns;
}

/* --- Functions of a place ----------------------------------------------------------------------- */

static uint32_t index_of(struct sampling *s, const struct report_frame *frame)
{
	struct side_function *function = side_code_get(s->code, side_code_name(s->code, frame));

	function->is_own |= graph_frame_is_own(s->labels, frame);
	return function - s->code->functions;
}

static void add_distinct(struct place *place, uint32_t function)
{
	for (size_t i = 0; i < place->count; i++)
		if (place->functions[i] == function)
			return;
	place->functions[place->count++] = function;
}

static const struct report_frame *leaf_of(const struct sampling *s, const struct run_place *from)
{
	const struct report_frame *own = NULL;

	if (s->options->is_by_own)
		own = graph_own_frame(s->labels, from->frames, from->frame_count);
	return own ? own : stack_leaf(from->frames, from->frame_count);
}

static void grow_functions(struct sampling *s)
{
	size_t before = s->function_capacity;

	if (s->code->count <= before)
		return;
	s->function_capacity = s->code->capacity;
	s->functions = xrealloc(s->functions, s->function_capacity, sizeof(*s->functions));
	s->in_part = xrealloc(s->in_part, s->function_capacity, sizeof(*s->in_part));
	s->in_stratum = xrealloc(s->in_stratum, s->function_capacity, sizeof(*s->in_stratum));
	for (size_t i = before; i < s->function_capacity; i++)
		s->functions[i] = (struct function){ 0 };
}

static const struct place *place_of(struct sampling *s, uint32_t at)
{
	const struct run_place *from = &s->samples->places[at];
	struct place *place = &s->places[at];

	if (place->is_known)
		return place;
	place->is_known = true;
	if (!from->frame_count)
		return place;
	place->functions = arena_alloc(s->arena, (from->frame_count + 1) * sizeof(*place->functions));
	add_distinct(place, index_of(s, leaf_of(s, from)));
	for (size_t i = 0; i < from->frame_count && !s->options->is_by_own; i++)
		add_distinct(place, index_of(s, &from->frames[i]));
	grow_functions(s);
	return place;
}

/* --- Sums --------------------------------------------------------------------------------------- */

static void add_sample(struct sampling *s, uint32_t at)
{
	const struct place *place = place_of(s, at);

	for (size_t i = 0; i < place->count; i++) {
		struct function *function = &s->functions[place->functions[i]];

		if (!function->of_part.total)
			s->in_part[s->in_part_count++] = place->functions[i];
		function->of_part.self += !i;
		function->of_part.total++;
	}
}

static void end_part(struct sampling *s, double weight_ns)
{
	while (s->in_part_count) {
		uint32_t index = s->in_part[--s->in_part_count];
		struct function *function = &s->functions[index];
		struct counts *all = &function->of_stratum, *part = &function->of_part;

		if (!all->total)
			s->in_stratum[s->in_stratum_count++] = index;
		all->self += part->self;
		all->total += part->total;
		function->self_squares += part->self * weight_ns * (part->self * weight_ns);
		function->total_squares += part->total * weight_ns * (part->total * weight_ns);
		*part = (struct counts){ 0 };
	}
}

static void end_stratum(struct sampling *s, const struct stratum *stratum, double weight_ns)
{
	while (s->in_stratum_count) {
		uint32_t index = s->in_stratum[--s->in_stratum_count];
		struct side_function *row = &s->code->functions[index];
		struct function *function = &s->functions[index];
		struct counts *count = &function->of_stratum;
		double self_ns = side_code_error_ns(stratum->running_ns, count->self, stratum->count);
		double total_ns = side_code_error_ns(stratum->running_ns, count->total, stratum->count);

		row->samples += count->total;
		row->self.ns += count->self * weight_ns;
		row->total.ns += count->total * weight_ns;
		function->self_variance += self_ns * self_ns;
		function->total_variance += total_ns * total_ns;
		*count = (struct counts){ 0 };
	}
}

static void add_members(struct sampling *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const struct member *member = &s->members[i], *next = i + 1 < s->count ? member + 1 : NULL;
		bool is_alone = member->stratum->is_alone;
		const struct stratum *stratum = is_alone ? member->stratum : &s->pool;
		double weight_ns = stratum->count ? stratum->running_ns / stratum->count : 0;

		if (member->stratum->is_hidden)
			continue;
		for (size_t k = member->first; k < member->end; k++)
			add_sample(s, s->samples->samples[k].place);
		end_part(s, weight_ns);
		s->weight_ns_max = fmax(s->weight_ns_max, weight_ns);
		if (is_alone && (!next || next->stratum != member->stratum))
			end_stratum(s, stratum, weight_ns);
	}
	if (s->pool.count)
		end_stratum(s, &s->pool, s->pool.running_ns / s->pool.count);
}

/* Of a sum over count executions, by how they differ. */
static double spread_of(double sum_ns, double squares, size_t count)
{
	double variance = count > 1 ? count / (count - 1.0) * (squares - sum_ns * sum_ns / count) : 0;

	return variance > 0 ? variance : 0;
}

static void finish(struct sampling *s)
{
	for (size_t i = 0; i < s->code->count; i++) {
		struct side_function *row = &s->code->functions[i];
		struct function *function = &s->functions[i];

		if (s->options->spreads) {
			function->self_variance = fmax(function->self_variance,
						       spread_of(row->self.ns, function->self_squares, s->count));
			function->total_variance = fmax(function->total_variance,
							spread_of(row->total.ns, function->total_squares, s->count));
		}
		row->self.error_ns = sqrt(function->self_variance);
		row->total.error_ns = sqrt(function->total_variance);
	}
	s->code->absent_error_ns = M_SQRT2 * s->weight_ns_max;
	if (s->options->spreads)
		s->code->freedom = s->count > 1 ? s->count - 1 : 1;
}

void sampled_code_add(struct side_code *code, const struct run_code *samples, const struct graph_labels *labels,
		      const struct ran_part *parts, size_t part_count, const struct sampled_options *options)
{
	struct sampling s = {
		.code = code,
		.samples = samples,
		.labels = labels,
		.options = options,
		.members = xcalloc(part_count + 1, sizeof(*s.members)),
		.strata = table_new(),
		.arena = arena_new(),
		.places = xcalloc(samples->place_count + 1, sizeof(*s.places)),
	};

	for (size_t i = 0; i < part_count; i++)
		add_member(&s, &parts[i]);
	judge_strata(&s);
	qsort(s.members, s.count, sizeof(*s.members), by_stratum);
	add_members(&s);
	finish(&s);
	free(s.functions);
	free(s.in_part);
	free(s.in_stratum);
	free(s.places);
	free(s.members);
	table_free(s.strata);
	arena_free(s.arena);
}
