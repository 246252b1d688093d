/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/comparison.h"

#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "compare/condition.h"
#include "compare/reasons.h"
#include "options/settings.h"
#include "query/compare_sides.h"
#include "show/compare_html.h"
#include "stacks/fold.h"
#include "view/graph/graph_svg.h"
#include "view/output.h"
#include "view/trace/comparison_view.h"

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

static int write_all(const struct settings *settings, const struct comparison_view *view,
		     const struct compare_source *sources)
{
	const struct graph_settings *graph = &settings->graph;
	bool has_other = settings->json_path || graph->dot_path || graph->svg_path || settings->html_path;
	int err = 0;

	if (settings->json_path)
		err = write_one(settings->json_path, view, comparison_put_json);
	if (!err && settings->html_path)
		err = compare_html_write(settings, view, sources);
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

/* Shows a comparison: of groups of one trace, or of two sources. Returns the exit status. */
static int show(const struct settings *settings, const struct conditions *conditions,
		const struct comparison *comparison, const struct compare_grouping *grouping,
		const struct compare_source *sources)
{
	struct comparison_answer answers[FAIL_IF_MAX];
	struct reasons reasons;
	struct comparison_view view = {
		.comparison = comparison,
		.reasons = &reasons,
		.answers = answers,
		.answer_count = conditions->count,
	};
	bool fails = false;
	int status;

	if (grouping) {
		view.groups = &grouping->groups;
		view.group_ns = grouping->group_ns;
		view.outliers = grouping->outliers;
	}
	for (size_t i = 0; i < conditions->count; i++) {
		answers[i].condition = &conditions->list[i];
		answers[i].holds = condition_holds(&conditions->list[i], comparison, &answers[i].change);
		fails |= answers[i].holds;
	}
	reasons_find(comparison, &reasons);
	status = write_all(settings, &view, sources);
	reasons_fini(&reasons);
	return status ? status : fails ? EXIT_CONDITION : 0;
}

/* --- The command ------------------------------------------------------------------------------ */

static int compare_one(const struct settings *settings, const struct conditions *conditions,
		       struct compare_source *source)
{
	struct compare_grouping grouping = { 0 };
	struct comparison comparison = { 0 };
	int status = EXIT_FAILED;

	if (!compare_executions(&comparison, source, settings, &grouping))
		status = show(settings, conditions, &comparison, &grouping, NULL);
	comparison_fini(&comparison);
	compare_grouping_fini(&grouping);
	return status;
}

static int compare_two(const struct settings *settings, const struct conditions *conditions,
		       struct compare_source sources[SIDES])
{
	struct comparison comparison;
	int status = EXIT_FAILED;

	if (!compare_traces(&comparison, sources, settings))
		status = show(settings, conditions, &comparison, NULL, sources);
	comparison_fini(&comparison);
	return status;
}

static int compare_files(const struct settings *settings, const struct conditions *conditions, char **paths, int count)
{
	struct compare_source sources[SIDES] = { { 0 } };
	struct fold_rules *fold = fold_rules_new();
	int err = fold_rules_add_user(fold), status = EXIT_FAILED;

	for (int i = 0; i < count && !err; i++)
		err = compare_source_open(&sources[i], paths[i], settings, fold);
	if (!err && count == 1)
		status = compare_one(settings, conditions, &sources[0]);
	else if (!err)
		status = compare_two(settings, conditions, sources);
	for (int i = 0; i < count; i++)
		compare_source_close(&sources[i]);
	fold_rules_free(fold);
	return status;
}

static int compare_checked(const struct settings *settings, char **paths, int count)
{
	struct conditions conditions = { 0 };
	int status = EXIT_USAGE;

	if (count != 1 && count != SIDES)
		fail_plain(-EINVAL, "no trace given: pinch compare [options] FILE [FILE]");
	else if (settings->range.to_ns <= settings->range.from_ns)
		fail_plain(-EINVAL, "--to must be later than --from");
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
	return 0;
}

static int set_groups(struct settings *settings, const char *argument)
{
	return number_parse("groups", argument, GROUPS_MIN, GROUPS_MAX, &settings->compare.group_count);
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
	{ "groups", 0, "N", "split the executions into N groups, 2 to 6 (default: the best fit)", set_groups },
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
	.usage = "[options] FILE [FILE]",
	.summary = "Compare slow with fast executions in a trace, or two traces: what differs, and why",
	.description = "FILE is a trace of pinch record. Given one, pinch groups its executions and compares the\n"
		       "slow ones with the fast ones. Given two, pinch compares the second with the first.",
	.options = options,
	.run = compare_run,
};
