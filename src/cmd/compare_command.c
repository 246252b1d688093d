/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/comparison.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/whole.h"
#include "compare/condition.h"
#include "compare/reasons.h"
#include "graph/graph.h"
#include "options/own_span_option.h"
#include "options/settings.h"
#include "query/compare_code.h"
#include "query/compare_reports.h"
#include "query/compare_sides.h"
#include "query/compare_source.h"
#include "show/compare_html.h"
#include "show/configurations.h"
#include "show/show_files.h"
#include "show/show_graph.h"
#include "stacks/fold.h"
#include "view/graph/graph_svg.h"
#include "view/output.h"
#include "view/table/execution_table.h"
#include "view/table/folded_difference.h"
#include "view/trace/comparison_code.h"
#include "view/trace/comparison_view.h"

/* What is compared of one trace, or two. The struct begins zeroed. */
struct compared {
	const struct settings *settings;
	const struct conditions *conditions;
	struct compare_source sources[SIDES];
	struct comparison comparison;
	struct compare_code code;
	struct compare_reports reports; /* of whole runs only */
	struct compare_grouping grouping;
	bool has_groups;
};

/* --- Output ----------------------------------------------------------------------------------- */

static int write_one(const char *path, const struct comparison_view *view,
		     void (*put)(struct text *out, const struct comparison_view *view))
{
	struct text out = { 0 };
	int err;

	put(&out, view);
	err = output_write(path, &out);
	text_fini(&out);
	return err;
}

static int write_svg(const char *path, const struct comparison_view *view)
{
	struct text dot = { 0 }, svg = { 0 };
	int err;

	comparison_put_dot(&dot, view);
	err = graph_dot_to_svg(dot.bytes, &svg);
	if (!err)
		err = output_write(path, &svg);
	text_fini(&dot);
	text_fini(&svg);
	return err;
}

static int write_folded(const char *path, const struct compare_reports *reports)
{
	struct text out = { 0 };
	int err;

	folded_put_difference(&out, reports->reports[FIRST_SIDE], reports->reports[SECOND_SIDE]);
	err = output_write(path, &out);
	text_fini(&out);
	return err;
}

static int write_executions(const char *path, const struct compared *compared)
{
	const struct compare_source *source = &compared->sources[0];
	struct text out = { 0 };
	int err;

	execution_table_put(&out, &source->executions, &compared->grouping.groups, compared->grouping.values,
			    trace_states_time(&source->all, 0));
	err = output_write(path, &out);
	text_fini(&out);
	return err;
}

static int write_all(const struct compared *compared, const struct comparison_view *view)
{
	const struct settings *settings = compared->settings;
	const struct compare_reports *reports = &compared->reports;
	const struct graph_settings *graph = &settings->graph;
	bool has_other = settings->json_path || graph->dot_path || graph->svg_path || settings->html_path ||
			 settings->folded_path || settings->compare.executions_path;
	int err = 0;

	if (settings->json_path)
		err = write_one(settings->json_path, view, comparison_put_json);
	if (!err && settings->html_path)
		err = compare_html_write(settings, view, reports);
	if (!err && settings->folded_path)
		err = write_folded(settings->folded_path, reports);
	if (!err && settings->compare.executions_path)
		err = write_executions(settings->compare.executions_path, compared);
	if (!err && graph->dot_path)
		err = write_one(graph->dot_path, view, comparison_put_dot);
	if (!err && graph->svg_path)
		err = write_svg(graph->svg_path, view);
	if (!err && (settings->text_path || !has_other))
		err = write_one(settings->text_path ? settings->text_path : "-", view, comparison_put_text);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

/* --- Conditions ------------------------------------------------------------------------------- */

struct conditions {
	struct condition list[FAIL_IF_MAX];
	size_t count;
};

static int parse_conditions(const struct settings *settings, struct conditions *out)
{
	const struct compare_settings *options = &settings->compare;
	int err = 0;

	for (size_t i = 0; i < options->fail_if_count && !err; i++) {
		err = condition_parse(options->fail_if[i], &out->list[i]);
		out->count += !err;
	}
	return err;
}

static void free_conditions(struct conditions *conditions)
{
	while (conditions->count)
		condition_fini(&conditions->list[--conditions->count]);
}

/* Returns the exit status. */
static int show(struct compared *compared)
{
	const struct conditions *conditions = compared->conditions;
	const struct compare_reports *reports = &compared->reports;
	struct comparison_answer answers[FAIL_IF_MAX];
	struct reasons reasons;
	struct comparison_code code = { .cpu = &compared->code.changes };
	struct comparison_view view = {
		.comparison = &compared->comparison,
		.reasons = &reasons,
		.code = &code,
		.answers = answers,
		.answer_count = conditions->count,
	};
	bool fails = false;
	int status;

	if (reports->count) {
		code.cmetric = &reports->function_changes;
		code.paths = &reports->path_changes;
		code.configurations = &reports->configurations;
		code.traces = reports->paths;
	}
	if (compared->has_groups) {
		view.groups = &compared->grouping.groups;
		view.group_ns = compared->grouping.group_ns;
		view.outliers = compared->grouping.outliers;
		view.note = compared->grouping.note;
		view.group_sides = compared->grouping.sides;
	}
	for (size_t i = 0; i < conditions->count; i++) {
		answers[i].condition = &conditions->list[i];
		answers[i].holds = condition_holds(&conditions->list[i], &compared->comparison, &answers[i].change);
		fails |= answers[i].holds;
	}
	reasons_find(&compared->comparison, &reasons);
	compare_code_name(&compared->code, &compared->comparison, &reasons);
	status = write_all(compared, &view);
	reasons_fini(&reasons);
	return status ? status : fails ? EXIT_CONDITION : 0;
}

/* --- The command ------------------------------------------------------------------------------ */

/* A report is of a whole run: of a part of one it would say something else than the comparison. */
static bool is_of_whole(const struct settings *settings)
{
	return !settings->range.from_ns && settings->range.to_ns == UINT64_MAX && !settings->threads.count;
}

/* What cannot be replayed is left out, after it has been said why, unless nothing can be shown without it. */
static int find_reports(struct compared *compared, char **paths)
{
	const struct settings *settings = compared->settings;
	struct compare_reports *reports = &compared->reports;
	int err = compare_reports_open(reports, settings, paths, SIDES, show_files_path_count(settings));

	if (!err)
		compare_reports_find(reports, &compared->comparison);
	else
		compare_reports_close(reports);
	return settings->folded_path ? err : 0;
}

static int find(struct compared *compared, char **paths, int count)
{
	const struct settings *settings = compared->settings;
	bool has_reports;
	int err;

	compared->has_groups = count == 1;
	if (count == 1)
		err = compare_executions(&compared->comparison, &compared->code, &compared->sources[0], settings,
					 &compared->grouping);
	else
		err = compare_traces(&compared->comparison, &compared->code, compared->sources, settings);
	if (err)
		return err;
	compare_code_find(&compared->code, &compared->comparison);
	has_reports = count == SIDES && is_of_whole(settings) && compared->comparison.is_of_runs;
	if (settings->folded_path && !has_reports)
		return fail_plain(-EINVAL, "--folded takes two whole runs: leave out --thread, --from and --to, and "
					   "give two traces without spans");
	return has_reports ? find_reports(compared, paths) : 0;
}

/* One group alone. Returns the exit status. */
static int show_group(struct compared *compared)
{
	const struct settings *settings = compared->settings;
	struct compare_grouping *grouping = &compared->grouping;
	uint32_t number = settings->compare.group;
	struct text words = { 0 };
	struct graph graph;
	int err = compare_group_graph(&compared->sources[0], settings, grouping, &graph);

	if (err)
		return EXIT_FAILED;
	text_printf(&words, "Group %u of %u: ", number, grouping->groups.count);
	text_put_count(&words, grouping->group_ns[number - 1].count);
	text_put(&words, " executions of ");
	text_put_duration(&words, whole(grouping->group_ns[number - 1].mean + 0.5));
	text_put(&words, " on average; times are sums over ");
	text_put_count(&words, grouping->part_count);
	text_put(&words, " of them.\n\n");
	err = show_graph(settings, &graph, compared->sources[0].trace.labels, words.bytes);
	text_fini(&words);
	graph_fini(&graph);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static bool wants_executions_alone(const struct settings *settings)
{
	return settings->compare.executions_path && !settings->compare.fail_if_count && !settings->json_path &&
	       !settings->html_path && !settings->text_path && !settings->graph.dot_path && !settings->graph.svg_path;
}

/* Of their groups none are compared. Returns the exit status. */
static int show_executions(struct compared *compared)
{
	const struct settings *settings = compared->settings;
	int err = compare_group_executions(&compared->sources[0], settings, &compared->grouping);

	if (!err)
		err = write_executions(settings->compare.executions_path, compared);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static int show_comparison(struct compared *compared, char **paths, int count)
{
	for (int i = 0; i < count; i++)
		compare_source_learn_places(&compared->sources[i]);
	if (compared->settings->compare.group)
		return show_group(compared);
	return find(compared, paths, count) ? EXIT_FAILED : show(compared);
}

static int compare_files(const struct settings *settings, const struct conditions *conditions, char **paths, int count)
{
	struct compared compared = { .settings = settings, .conditions = conditions };
	struct fold_rules *fold = fold_rules_new();
	int err = fold_rules_add_user(fold), status = EXIT_FAILED;

	for (int i = 0; i < count && !err; i++)
		err = compare_source_open(&compared.sources[i], paths[i], settings, fold);
	if (!err)
		status = wants_executions_alone(settings) ? show_executions(&compared)
							  : show_comparison(&compared, paths, count);
	compare_reports_close(&compared.reports);
	compare_code_fini(&compared.code);
	comparison_fini(&compared.comparison);
	compare_grouping_fini(&compared.grouping);
	for (int i = 0; i < count; i++)
		compare_source_close(&compared.sources[i]);
	fold_rules_free(fold);
	return status;
}

static int compare_many(const struct settings *settings, char **paths, int count)
{
	struct compare_reports reports = { 0 };
	int status = EXIT_FAILED;

	if (!compare_reports_open(&reports, settings, paths, count, 1))
		status = show_configurations(settings, &reports) ? EXIT_FAILED : 0;
	compare_reports_close(&reports);
	return status;
}

/* Options that are about groups of executions. */
static int check_groups(const struct settings *settings, int count)
{
	const struct compare_settings *compare = &settings->compare;
	bool has_features = false;

	for (unsigned int i = 0; i < FIGURES; i++)
		has_features |= compare->by_figure[i];
	if (compare->span && compare->has_cycle)
		return fail_plain(-EINVAL, "--span and --cycle are two ways to find executions: give one of them");
	if (count > 1 && (has_features || compare->between[0] || compare->group || compare->executions_path))
		return fail_plain(-EINVAL, "--feature, --between, --group and --executions are about the executions of "
					   "one trace");
	if (compare->group &&
	    (compare->between[0] || compare->fail_if_count || settings->folded_path || compare->executions_path))
		return fail_plain(-EINVAL, "--group shows one group alone: leave out --between, --fail-if, "
					   "--executions and --folded");
	return 0;
}

/* Options that have a meaning for one trace or two only. */
static int check_many(const struct settings *settings, int count)
{
	const struct graph_settings *graph = &settings->graph;
	const struct compare_settings *compare = &settings->compare;

	if (count > COMPARED_TRACES_MAX)
		return fail_plain(-EINVAL, "at most %d traces can be compared", COMPARED_TRACES_MAX);
	if (!is_of_whole(settings) || compare->span || compare->has_cycle || compare->group_count ||
	    compare->fail_if_count || settings->folded_path || graph->dot_path || graph->svg_path)
		return fail_plain(-EINVAL, "of three or more traces only whole runs are compared, as text, --json and "
					   "--html: leave out the other options");
	return 0;
}

static int compare_checked(const struct settings *settings, char **paths, int count)
{
	struct conditions conditions = { 0 };
	int status = EXIT_USAGE;

	if (!count)
		fail_plain(-EINVAL, "no trace given: pinch compare [options] FILE...");
	else if (settings->range.to_ns <= settings->range.from_ns)
		fail_plain(-EINVAL, "--to must be later than --from");
	else if (check_groups(settings, count))
		status = EXIT_USAGE;
	else if (count > SIDES)
		status = check_many(settings, count) ? EXIT_USAGE : compare_many(settings, paths, count);
	else if (!parse_conditions(settings, &conditions))
		status = compare_files(settings, &conditions, paths, count);
	free_conditions(&conditions);
	return status;
}

static int compare_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &compare_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&compare_command);
		else
			status = compare_checked(&settings, argv + rest, argc - rest);
	}
	settings_fini(&settings);
	return status;
}

static int set_span(struct settings *settings, const char *argument)
{
	settings->compare.span = argument;
	return own_span_option(settings, argument);
}

static int set_cycle(struct settings *settings, const char *argument)
{
	struct text names = { 0 };

	for (unsigned int cause = 0; cause < CAUSES && !settings->compare.has_cycle; cause++) {
		text_printf(&names, "%s%s", cause ? ", " : "", wait_cause_name(cause));
		settings->compare.cycle = cause;
		settings->compare.has_cycle = !strcmp(argument, wait_cause_name(cause));
	}
	if (!settings->compare.has_cycle)
		fail_plain(-EINVAL, "there is no cause '%s': --cycle takes one of %s", argument, names.bytes);
	text_fini(&names);
	return settings->compare.has_cycle ? 0 : -EINVAL;
}

static int set_groups(struct settings *settings, const char *argument)
{
	return number_parse("groups", argument, GROUPS_MIN, GROUPS_MAX, &settings->compare.group_count);
}

/* Names of figures with commas between. */
static int set_feature(struct settings *settings, const char *argument)
{
	char *list = xstrdup(argument), *rest = list, *name;
	unsigned int figure;
	int err = 0;

	while (!err && (name = strsep(&rest, ","))) {
		figure = figure_find(name);
		if (figure < FIGURES)
			settings->compare.by_figure[figure] = true;
		else
			err = fail_plain(-EINVAL,
					 "there is no figure '%s': --feature takes names such as duration, "
					 "cpu.waiting, lost.lock or block.count, with commas between",
					 name);
	}
	free(list);
	return err;
}

static int set_between(struct settings *settings, const char *argument)
{
	uint32_t *between = settings->compare.between;
	int length = 0;

	if (sscanf(argument, "%u,%u%n", &between[FIRST_SIDE], &between[SECOND_SIDE], &length) == SIDES &&
	    !argument[length] && between[FIRST_SIDE] && between[SECOND_SIDE] &&
	    between[FIRST_SIDE] != between[SECOND_SIDE])
		return 0;
	return fail_plain(-EINVAL, "--between takes the numbers of two groups, such as 1,3, not '%s'", argument);
}

static int set_group(struct settings *settings, const char *argument)
{
	return number_parse("group", argument, 1, GROUPS_MAX, &settings->compare.group);
}

static int set_folded(struct settings *settings, const char *argument)
{
	settings->folded_path = argument;
	return 0;
}

static int set_executions(struct settings *settings, const char *argument)
{
	settings->compare.executions_path = argument;
	return 0;
}

static int set_fail_if(struct settings *settings, const char *argument)
{
	struct compare_settings *options = &settings->compare;

	if (options->fail_if_count == FAIL_IF_MAX)
		return fail_plain(-EINVAL, "--fail-if can be given at most %d times", FAIL_IF_MAX);
	options->fail_if[options->fail_if_count++] = argument;
	return 0;
}

static const struct option_spec compare_options[] = {
	{ "span", 0, "NAME", "compare executions of this span (needed if there are several spans)", set_span },
	{ "cycle", 0, "CAUSE", "compare what threads do from one wait for this cause to the next, such as sleep",
	  set_cycle },
	{ "groups", 0, "N", "split the executions into N groups, 2 to 6 (default: the best fit)", set_groups },
	{ "feature", 0, "LIST", "group them by these figures alone, such as duration,lost.lock (default: by all)",
	  set_feature },
	{ "between", 0, "PAIR",
	  "compare these two groups, such as 1,3, 1 being the fastest (default: 1 and the slowest)", set_between },
	{ "group", 0, "N", "compare nothing: show the graph of group N alone, as pinch graph does", set_group },
	{ "executions", 0, "FILE", "write the executions with their groups and figures as CSV", set_executions },
	{ "folded", 0, "FILE",
	  "write the call paths of two runs with their CMetric in us in both, for flame graph tools", set_folded },
	{ "fail-if", 0, "CHANGE",
	  "exit with status 3 if this change is found, such as 'lost.lock > 10 "
	  "%'",
	  set_fail_if },
	{ 0 },
};

static const struct option_spec *const options[] = {
	range_options,      thread_options,  compare_options,
	dependency_options, picture_options, html_options,
	names_options,      common_options,  NULL,
};

const struct command compare_command = {
	.name = "compare",
	.usage = "[options] FILE...",
	.summary = "Compare slow with fast executions in a trace, or several traces: what differs, and why",
	.description = "FILE is a trace of pinch record. Given one, pinch groups its executions and compares the\n"
		       "slow ones with the fast ones. Given two, pinch compares the second with the first. Given\n"
		       "more, pinch shows how groups of threads share the load in each.",
	.options = options,
	.run = compare_run,
};
