/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/compare_sides.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "options/settings.h"
#include "query/execution_features.h"
#include "query/span_choice.h"
#include "session/threads.h"
#include "spans/execution_log.h"
#include "spans/features.h"
#include "states/states.h"
#include "view/trace/comparison_view.h"

/* Of more executions than that, as many are examined, evenly apart in time. */
enum { EXECUTIONS_MAX = 200000, GRAPHS_MAX = 2000 };

/* --- Sources ---------------------------------------------------------------------------------- */

static bool is_chosen(const struct compare_source *source, const struct settings *settings, uint32_t thread)
{
	if (!settings->threads.count)
		return true;
	for (size_t i = 0; i < source->chosen.count; i++)
		if (source->chosen.numbers[i] == thread)
			return true;
	return false;
}

/* The span that is compared, or -1: there is none; -ENOENT after having said what there is. */
static int find_span(const struct compare_source *source, const struct settings *settings)
{
	const struct trace_states *all = &source->all;
	int found = -1;

	if (settings->compare.span)
		return span_find(all, source->path, settings->compare.span);
	for (int i = 0; i < SPANS_MAX; i++) {
		if (!execution_log_span(all->executions, i))
			continue;
		if (found >= 0)
			return fail_plain(-ENOENT,
					  "%s has several spans: choose one with --span; pinch spans lists them",
					  source->path);
		found = i;
	}
	return found;
}

/* Those that lie in no other one of the span. */
static void take_executions(struct compare_source *source, uint32_t span, const struct settings *settings)
{
	const struct executions *all = execution_log_all(source->all.executions);
	uint64_t from_ns = trace_states_time(&source->all, settings->range.from_ns);
	uint64_t to_ns = trace_states_time(&source->all, settings->range.to_ns);
	size_t step = 1 + all->count / EXECUTIONS_MAX;

	source->executions.list = xcalloc(all->count + 1, sizeof(*all->list));
	for (size_t i = 0; i < all->count; i += step) {
		const struct execution *execution = &all->list[i];

		if (execution->span == span && !execution->depth && execution->begin_ns >= from_ns &&
		    execution->end_ns <= to_ns && is_chosen(source, settings, execution->thread))
			source->executions.list[source->executions.count++] = *execution;
	}
}

static bool is_whole(const struct trace_states *all, const struct settings *settings)
{
	return all->has_ended && !settings->range.from_ns && settings->range.to_ns == UINT64_MAX;
}

int compare_source_open(struct compare_source *source, const char *path, const struct settings *settings,
			const struct fold_rules *fold)
{
	int err = trace_states_open(path, settings->opens_files, &source->all), span;

	if (err)
		return err;
	source->path = path;
	source->is_whole = is_whole(&source->all, settings);
	source->trace.states = source->all.states;
	source->trace.labels = trace_states_labels(&source->all, fold, true);
	graph_labels_omit_lines(source->trace.labels);
	err = chosen_threads_find(settings, path, &source->all, &source->chosen);
	if (err)
		return err;
	span = find_span(source, settings);
	if (span >= 0)
		take_executions(source, span, settings);
	return span == -ENOENT ? span : 0;
}

void compare_source_close(struct compare_source *source)
{
	if (!source->path)
		return;
	free(source->name);
	free(source->executions.list);
	chosen_threads_fini(&source->chosen);
	graph_labels_free(source->trace.labels);
	trace_states_close(&source->all);
	*source = (struct compare_source){ 0 };
}

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

static const char *thread_name(const struct compare_source *source, uint32_t thread)
{
	const struct graph_node node = { .kind = GRAPH_THREAD, .id = thread };

	return graph_label(source->trace.labels, &node);
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
				thread_name(source, execution->thread),
			};
		else
			sample_add(&out->group_ns[out->groups.of[i]], duration_ns);
	}
}

static void add_group(struct comparison *comparison, unsigned int side, const struct compare_source *source,
		      const double *values, const struct groups *groups, unsigned int group)
{
	size_t step = 1 + groups->sizes[group] / GRAPHS_MAX, at = 0;

	for (size_t i = 0; i < source->executions.count; i++)
		if (groups->of[i] == group)
			comparison_add(comparison, side, &source->trace, &source->executions.list[i],
				       values + i * FIGURES, at++ % step == 0);
}

int compare_executions(struct comparison *comparison, struct compare_source *source, const struct settings *settings,
		       struct compare_grouping *out)
{
	size_t count = source->executions.count;
	double *values;
	int err;

	if (!count)
		return fail_plain(-ENOENT,
				  "%s contains no spans: record it with --span, or compare it "
				  "with another trace",
				  source->path);
	err = make_values(source, &values);
	if (err)
		goto out_free;
	groups_make(values, count, settings->compare.group_count, &out->groups);
	describe(source, out);
	comparison_init(comparison, false, settings->graph.share_min);
	comparison->sides[FIRST_SIDE].name = "fast executions";
	comparison->sides[SECOND_SIDE].name = "slow executions";
	if (out->groups.count < GROUPS_MIN) {
		err = fail_plain(-ENOENT, "the %zu executions of %s are too few or too similar to be compared", count,
				 source->path);
	} else {
		add_group(comparison, FIRST_SIDE, source, values, &out->groups, 0);
		add_group(comparison, SECOND_SIDE, source, values, &out->groups, out->groups.count - 1);
	}

out_free:
	free(values);
	return err;
}

void compare_grouping_fini(struct compare_grouping *grouping)
{
	groups_fini(&grouping->groups);
	free(grouping->outliers);
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

static int add_executions(struct comparison *comparison, unsigned int side, const struct compare_source *source)
{
	size_t step = 1 + source->executions.count / GRAPHS_MAX;
	double *values;
	int err = make_values(source, &values);

	for (size_t i = 0; i < source->executions.count && !err; i++)
		comparison_add(comparison, side, &source->trace, &source->executions.list[i], values + i * FIGURES,
			       i % step == 0);
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
static int add_run(struct comparison *comparison, unsigned int side, const struct compare_source *source,
		   const struct settings *settings)
{
	size_t count = source->chosen.count;
	uint64_t from_ns = clip(source, settings->range.from_ns), to_ns = clip(source, settings->range.to_ns);
	struct executions lives = { .list = xcalloc(count + 1, sizeof(*lives.list)), .count = count };
	struct features *features = xcalloc(count + 1, sizeof(*features));
	int err;

	if (to_ns < from_ns)
		to_ns = from_ns;
	for (size_t i = 0; i < count; i++)
		lives.list[i] = (struct execution){
			.thread = source->chosen.numbers[i],
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
	free(features);
	free(lives.list);
	return err;
}

int compare_traces(struct comparison *comparison, struct compare_source sources[SIDES], const struct settings *settings)
{
	bool is_of_runs = !sources[FIRST_SIDE].executions.count || !sources[SECOND_SIDE].executions.count;
	int err = 0;

	comparison_init(comparison, is_of_runs, settings->graph.share_min);
	comparison->is_per_second = is_of_runs && (!sources[FIRST_SIDE].is_whole || !sources[SECOND_SIDE].is_whole);
	for (unsigned int side = 0; side < SIDES && !err; side++) {
		comparison->sides[side].name = name_of(&sources[side], is_of_runs);
		err = is_of_runs ? add_run(comparison, side, &sources[side], settings)
				 : add_executions(comparison, side, &sources[side]);
	}
	return err;
}
