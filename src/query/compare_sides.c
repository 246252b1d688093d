/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/compare_sides.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/thread_split.h"
#include "graph/graph.h"
#include "graph/graph_label.h"
#include "options/settings.h"
#include "query/compare_code.h"
#include "query/compare_source.h"
#include "query/execution_features.h"
#include "session/threads.h"
#include "spans/features.h"
#include "states/states.h"
#include "view/trace/comparison_view.h"

/* Of more executions than that, as many have graphs, evenly apart in time. */
enum { GRAPHS_MAX = 2000 };

/* --- One trace -------------------------------------------------------------------------------- */

/* FIGURES of each; in any case for the caller to free. */
static int make_values(const struct compare_source *source, double **out)
{
	size_t count = source->executions.count;
	struct features *features = xcalloc(count + 1, sizeof(*features));
	double *values = *out = xcalloc(count + 1, FIGURES * sizeof(double));
	int err = execution_features(source->path, &source->all, &source->executions, features);

	for (size_t i = 0; i < count; i++)
		figures_add(values + i * FIGURES, &features[i]);
	free(features);
	return err;
}

/* Durations of groups, and who belongs to none. */
static void describe(const struct compare_source *source, struct compare_grouping *out)
{
	uint64_t first_ns = trace_states_time(&source->all, 0);
	size_t at = 0;

	out->outliers = xcalloc(out->groups.outlier_count + 1, sizeof(*out->outliers));
	for (size_t i = 0; i < source->executions.count; i++) {
		const struct execution *execution = &source->executions.list[i];
		uint64_t duration_ns = execution->end_ns - execution->begin_ns;

		if (out->groups.of[i] == GROUP_OUTLIER)
			out->outliers[at++] = (struct comparison_outlier){
				execution->begin_ns - first_ns,
				duration_ns,
				compare_source_thread(source, execution->thread),
			};
		else
			sample_add(&out->group_ns[out->groups.of[i]], duration_ns);
	}
}

static uint64_t running_ns(const double values[FIGURES])
{
	return values[FIGURE_SHARES + SHARE_RUNNING] + values[FIGURE_SHARES + SHARE_SPINNING];
}

static void add_group(struct comparison *comparison, struct compare_code *code, unsigned int side,
		      struct compare_source *source, const double *values, const struct groups *groups,
		      unsigned int group)
{
	size_t step = 1 + groups->sizes[group] / GRAPHS_MAX, at = 0;

	for (size_t i = 0; i < source->executions.count; i++) {
		const struct execution *execution = &source->executions.list[i];
		const double *of = values + i * FIGURES;

		if (groups->of[i] != group)
			continue;
		comparison_add(comparison, side, &source->trace, execution, of, at++ % step == 0);
		compare_code_add(code, side, source, execution, running_ns(of));
	}
}

static bool has_features(const struct compare_settings *options)
{
	for (unsigned int i = 0; i < FIGURES; i++)
		if (options->by_figure[i])
			return true;
	return false;
}

/* -ENOENT: there are no two groups. */
static int check_groups(const struct compare_source *source, const struct compare_settings *options,
			const struct groups *groups)
{
	uint32_t most = options->group;

	for (unsigned int side = 0; side < SIDES; side++)
		most = options->between[side] > most ? options->between[side] : most;
	if (groups->count < GROUPS_MIN && !options->group)
		return fail_plain(-ENOENT, "the %zu executions of %s are too few or too similar to be compared%s",
				  source->executions.count, source->path,
				  has_features(options) ? " by these features" : "");
	if (most > groups->count)
		return fail_plain(-ENOENT, "there is no group %u: the executions of %s are %u group%s", most,
				  source->path, groups->count, groups->count == 1 ? "" : "s");
	return 0;
}

int compare_group_executions(const struct compare_source *source, const struct settings *settings,
			     struct compare_grouping *out)
{
	const struct compare_settings *options = &settings->compare;
	size_t count = source->executions.count;
	int err;

	if (!count)
		return fail_plain(-ENOENT,
				  "%s contains no spans: record it with --span, or compare it "
				  "with another trace, or cycles of its threads with --cycle sleep",
				  source->path);
	err = make_values(source, &out->values);
	if (err)
		return err;
	groups_make(out->values, count,
		    &(struct groups_options){
			    .wanted = options->group_count,
			    .by_figure = has_features(options) ? options->by_figure : NULL,
		    },
		    &out->groups);
	describe(source, out);
	return check_groups(source, options, &out->groups);
}

/* The number of the group on a side, from 0 on. */
static unsigned int group_of_side(const struct compare_settings *options, const struct groups *groups,
				  unsigned int side)
{
	if (options->between[side])
		return options->between[side] - 1;
	return side == FIRST_SIDE ? 0 : groups->count - 1;
}

static const char *name_of_side(const struct compare_settings *options, struct compare_grouping *grouping,
				unsigned int side)
{
	static const char *const names[SIDES] = { "fast executions", "slow executions" };

	if (!options->between[side])
		return names[side];
	snprintf(grouping->names[side], sizeof(grouping->names[side]), "executions of group %u",
		 options->between[side]);
	return grouping->names[side];
}

static char *note_of_threads(const struct compare_source *source, const struct compare_grouping *grouping)
{
	struct text note = { 0 };
	const struct thread *thread;
	uint32_t most;
	char *copy;

	if (!thread_split_find(&source->executions, &grouping->groups, grouping->sides[FIRST_SIDE],
			       grouping->sides[SECOND_SIDE], &most))
		return NULL;
	thread = threads_get(source->all.threads, most);
	text_printf(&note,
		    "No thread has executions of both, so they may be different tasks. Those of one thread: "
		    "--thread %u (",
		    most);
	text_put_escaped(&note, *thread->name ? thread->name : "nameless");
	text_printf(&note, ", tid %u)", thread->tid);
	copy = xstrdup(note.bytes);
	text_fini(&note);
	return copy;
}

int compare_executions(struct comparison *comparison, struct compare_code *code, struct compare_source *source,
		       const struct settings *settings, struct compare_grouping *out)
{
	const struct compare_settings *options = &settings->compare;
	int err = compare_group_executions(source, settings, out);

	comparison_init(comparison, false, settings->graph.share_min);
	for (unsigned int side = 0; side < SIDES && !err; side++) {
		comparison->sides[side].name = name_of_side(options, out, side);
		out->sides[side] = group_of_side(options, &out->groups, side);
		add_group(comparison, code, side, source, out->values, &out->groups, out->sides[side]);
	}
	if (!err)
		out->note = note_of_threads(source, out);
	return err;
}

int compare_group_graph(struct compare_source *source, const struct settings *settings, struct compare_grouping *out,
			struct graph *graph)
{
	unsigned int group = settings->compare.group - 1;
	size_t count = source->executions.count, at = 0, step, part_count = 0;
	struct graph_part *parts = xcalloc(count + 1, sizeof(*parts));
	int err = compare_group_executions(source, settings, out);

	step = err ? 1 : 1 + out->groups.sizes[group] / GRAPHS_MAX;
	for (size_t i = 0; i < count && !err; i++) {
		const struct execution *execution = &source->executions.list[i];

		if (out->groups.of[i] == group && at++ % step == 0)
			parts[part_count++] = (struct graph_part){
				execution->thread,
				execution->begin_ns,
				execution->end_ns,
			};
	}
	if (!err)
		graph_of_parts(source->trace.states, parts, part_count,
			       &(struct graph_options){
				       .from_ns = trace_states_time(&source->all, settings->range.from_ns),
				       .to_ns = trace_states_time(&source->all, settings->range.to_ns),
				       .share_min = settings->graph.share_min,
				       .merges_contexts = true,
				       .key_of = graph_label_key,
				       .key_data = source->trace.labels,
			       },
			       graph);
	out->part_count = part_count;
	free(parts);
	return err;
}

void compare_grouping_fini(struct compare_grouping *grouping)
{
	groups_fini(&grouping->groups);
	free(grouping->values);
	free(grouping->outliers);
	free(grouping->note);
}

/* --- Two traces ------------------------------------------------------------------------------- */

static const char *name_of(struct compare_source *source, bool is_of_runs)
{
	struct text name = { 0 };

	text_printf(&name, "%s%s", is_of_runs ? "" : "executions of ", source->path);
	source->name = xstrdup(name.bytes);
	text_fini(&name);
	return source->name;
}

static int add_executions(struct comparison *comparison, struct compare_code *code, unsigned int side,
			  struct compare_source *source)
{
	size_t step = 1 + source->executions.count / GRAPHS_MAX;
	double *values;
	int err = make_values(source, &values);

	for (size_t i = 0; i < source->executions.count && !err; i++) {
		const struct execution *execution = &source->executions.list[i];
		const double *of = values + i * FIGURES;

		comparison_add(comparison, side, &source->trace, execution, of, i % step == 0);
		compare_code_add(code, side, source, execution, running_ns(of));
	}
	free(values);
	return err;
}

static uint64_t clip(const struct compare_source *source, uint64_t asked_ns)
{
	uint64_t time_ns = trace_states_time(&source->all, asked_ns);
	uint64_t begin_ns = states_begin_ns(source->all.states), end_ns = states_end_ns(source->all.states);

	if (time_ns < begin_ns)
		return begin_ns;
	return time_ns > end_ns ? end_ns : time_ns;
}

/* As if it were one execution of each thread. */
static int add_run(struct comparison *comparison, struct compare_code *code, unsigned int side,
		   struct compare_source *source, const struct settings *settings)
{
	size_t count = source->chosen.count;
	uint64_t from_ns = clip(source, settings->range.from_ns), to_ns = clip(source, settings->range.to_ns);
	struct executions lives = { .list = xcalloc(count + 1, sizeof(*lives.list)), .count = count };
	struct features *features = xcalloc(count + 1, sizeof(*features));
	int err;

	if (to_ns < from_ns)
		to_ns = from_ns;
	states_lives(source->all.states, source->chosen.numbers, count, &from_ns, &to_ns);
	for (size_t i = 0; i < count; i++)
		lives.list[i] = (struct execution){
			.thread = source->chosen.numbers[i],
			.begin_thread = source->chosen.numbers[i],
			.begin_ns = from_ns,
			.end_ns = to_ns,
		};
	err = execution_features(source->path, &source->all, &lives, features);
	if (!err)
		comparison_add_run(comparison, side, &source->trace,
				   &(struct compared_run){
					   .threads = source->chosen.numbers,
					   .features = features,
					   .thread_count = count,
					   .from_ns = from_ns,
					   .to_ns = to_ns,
				   });
	for (size_t i = 0; i < count && !err; i++)
		compare_code_add(code, side, source, &lives.list[i],
				 features[i].ns[SHARE_RUNNING] + features[i].ns[SHARE_SPINNING]);
	free(features);
	free(lives.list);
	return err;
}

int compare_traces(struct comparison *comparison, struct compare_code *code, struct compare_source *sources,
		   const struct settings *settings)
{
	bool is_of_runs = !sources[FIRST_SIDE].executions.count || !sources[SECOND_SIDE].executions.count;
	int err = 0;

	comparison_init(comparison, is_of_runs, settings->graph.share_min);
	comparison->is_per_second = is_of_runs && (!sources[FIRST_SIDE].is_whole || !sources[SECOND_SIDE].is_whole);
	for (unsigned int side = 0; side < SIDES && !err; side++) {
		comparison->sides[side].name = name_of(&sources[side], is_of_runs);
		err = is_of_runs ? add_run(comparison, code, side, &sources[side], settings)
				 : add_executions(comparison, code, side, &sources[side]);
	}
	return err;
}
