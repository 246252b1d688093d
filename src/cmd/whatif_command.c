/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/whatif.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "options/own_span_option.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/span_choice.h"
#include "query/trace_samples.h"
#include "query/trace_states.h"
#include "spans/execution_log.h"
#include "stacks/fold.h"
#include "values.h"
#include "view/output.h"
#include "view/trace/whatif_text.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"
#include "whatif/tasks.h"

enum { RANKS = 10 };

static int show(const struct settings *settings, const struct whatif_view *view)
{
	struct text out = { 0 };
	int err = 0;

	if (settings->json_path) {
		whatif_put_json(&out, view);
		err = output_write(settings->json_path, &out);
		out.length = 0;
	}
	if (!err && (settings->text_path || !settings->json_path)) {
		whatif_put_text(&out, view);
		err = output_write(settings->text_path ? settings->text_path : "-", &out);
	}
	text_fini(&out);
	return err;
}

static int show_answer(const struct settings *settings, struct whatif_view *view, const struct element_choice *choice)
{
	const struct whatif_change change = {
		.choice = choice,
		.scale = view->scale,
		.cpu_count = view->cpu_count,
	};
	uint64_t *predicted_ns = xcalloc(view->task_count + 1, sizeof(*predicted_ns));
	struct whatif_answer answer;
	int err;

	whatif_predict(view->whatif, &change, &answer);
	if (view->span)
		whatif_predict_tasks(view->whatif, &change, view->tasks, view->task_count, predicted_ns);
	view->answer = &answer;
	view->predicted_ns = predicted_ns;
	err = show(settings, view);
	critical_path_fini(&answer.path);
	free(predicted_ns);
	return err;
}

static int show_ranks(const struct settings *settings, struct whatif_view *view)
{
	struct whatif_rank ranks[RANKS];

	view->ranks = ranks;
	view->rank_count = whatif_rank(view->whatif, view->labels, view->scale, ranks, RANKS);
	return show(settings, view);
}

/* What of each kind was asked for; ELEMENT_CPUS: nothing of them. */
static enum element_kind asked_kind(const struct settings *settings)
{
	enum element_kind kind = 0;

	while (kind < ELEMENT_CPUS && !settings->whatif.names[kind])
		kind++;
	return kind;
}

static int fail_without(const char *path, const struct whatif_view *view)
{
	const char *kind = element_kind_name(view->kind);

	if (element_is_code(view->kind))
		return fail_plain(-ENOENT,
				  "no sample of a running thread in %s is in the %s '%s': pinch whatif %s lists what "
				  "can be given",
				  path, kind, view->name, path);
	if (view->kind == ELEMENT_WAITS)
		return fail_plain(-ENOENT, "no thread in %s waited in '%s': pinch whatif %s lists what can be given",
				  path, view->name, path);
	return fail_plain(-ENOENT, "no thread in %s waited for the %s '%s': pinch whatif %s lists what can be given",
			  path, kind, view->name, path);
}

static int answer(const struct settings *settings, const char *path, struct whatif_view *view)
{
	const struct code_runs *runs = &view->whatif->runs;
	struct element_choice choice;
	int err;

	view->kind = asked_kind(settings);
	if (view->kind == ELEMENT_CPUS)
		return settings->whatif.cpu_count ? show_answer(settings, view, NULL) : show_ranks(settings, view);
	view->name = settings->whatif.names[view->kind];
	element_choice_init(&choice, runs->lives, runs->code);
	if (element_choose(runs, view->labels, view->kind, view->name, &choice))
		err = show_answer(settings, view, &choice);
	else
		err = fail_without(path, view);
	element_choice_fini(&choice);
	return err;
}

/* The executions of the span that was asked for, if any was. */
static int find_tasks(const struct settings *settings, const char *path, const struct trace_states *all,
		      struct whatif_view *view)
{
	const struct executions *executions = execution_log_all(all->executions);
	struct whatif_task *tasks;
	int span;

	view->span = settings->graph.execution;
	if (!view->span)
		return 0;
	span = span_find(all, path, view->span);
	if (span < 0)
		return span;
	view->tasks = tasks = xcalloc(executions->count + 1, sizeof(*tasks));
	for (size_t i = 0; i < executions->count; i++) {
		const struct execution *at = &executions->list[i];

		if (at->span == (uint32_t)span)
			tasks[view->task_count++] = (struct whatif_task){
				.begin_ns = at->begin_ns,
				.end_ns = at->end_ns,
				.begin_thread = at->begin_thread,
				.end_thread = at->thread,
			};
	}
	return 0;
}

static int answer_of_lives(const struct settings *settings, const char *path, const struct trace_states *all,
			   const struct lives *lives)
{
	struct fold_rules *fold = fold_rules_new();
	struct whatif_view view = { .scale = settings->whatif.scale };
	struct run_code code;
	struct whatif whatif;
	int err = fold_rules_add_user(fold);

	if (!err)
		err = find_tasks(settings, path, all, &view);
	if (!err) {
		trace_samples_read(all, &code);
		whatif_init(&whatif, lives, &code);
		view.whatif = &whatif;
		view.labels = trace_states_labels(all, fold, false);
		view.cpu_count = settings->whatif.cpu_count ? settings->whatif.cpu_count : whatif.cpu_count;
		run_code_name(&code, view.labels);
		err = answer(settings, path, &view);
		graph_labels_free(view.labels);
		whatif_fini(&whatif);
		run_code_fini(&code);
	}
	free((void *)view.tasks);
	fold_rules_free(fold);
	return err;
}

static int answer_of_states(const struct settings *settings, const char *path, const struct trace_states *all)
{
	struct chosen_threads chosen = { 0 };
	struct lives lives = { 0 };
	int err = chosen_threads_find(settings, path, all, &chosen);

	if (!err) {
		err = lives_of(all->states, all->threads, chosen.numbers, chosen.count, &lives);
		if (err)
			fail_plain(err, "%s is too large for a replay: cut a part out of it with pinch cut", path);
	}
	if (!err && lives.begin_ns >= lives.end_ns)
		err = fail_plain(-ENOENT, "no thread ran in %s: there is nothing to replay", path);
	if (!err)
		err = answer_of_lives(settings, path, all, &lives);
	lives_fini(&lives);
	chosen_threads_fini(&chosen);
	return err;
}

static int whatif_of_trace(const struct settings *settings, const char *path)
{
	struct trace_states all;
	int err = trace_states_open(path, settings->opens_files, settings->own_span, &all);

	if (err)
		return EXIT_FAILED;
	err = answer_of_states(settings, path, &all);
	trace_states_close(&all);
	return err && err != -EPIPE ? EXIT_FAILED : 0;
}

static int whatif_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &whatif_command, argc, argv, &rest)) {
		if (settings.wants_help) {
			status = 0;
			command_help(&whatif_command);
		} else if (rest + 1 != argc) {
			fail_plain(-EINVAL, "no trace given: pinch whatif [options] FILE");
		} else {
			status = whatif_of_trace(&settings, argv[rest]);
		}
	}
	settings_fini(&settings);
	return status;
}

static int set_element(struct settings *settings, enum element_kind kind, const char *argument)
{
	if (asked_kind(settings) < ELEMENT_CPUS)
		return fail_plain(-EINVAL, "only one of --lock, --waits, --cause, --wakeups, --function, --line and "
					   "--path can be given");
	settings->whatif.names[kind] = argument;
	return 0;
}

static int set_lock(struct settings *settings, const char *argument)
{
	return set_element(settings, ELEMENT_LOCK, argument);
}

static int set_waits(struct settings *settings, const char *argument)
{
	return set_element(settings, ELEMENT_WAITS, argument);
}

static int set_cause(struct settings *settings, const char *argument)
{
	return set_element(settings, ELEMENT_CAUSE, argument);
}

static int set_wakeups(struct settings *settings, const char *argument)
{
	return set_element(settings, ELEMENT_WAKEUPS, argument);
}

static int set_function(struct settings *settings, const char *argument)
{
	return set_element(settings, ELEMENT_FUNCTION, argument);
}

static int set_line(struct settings *settings, const char *argument)
{
	const char *colon = strrchr(argument, ':');
	char *end;

	if (!colon || colon == argument || !strtoul(colon + 1, &end, 10) || *end)
		return fail_plain(-EINVAL, "--line takes a file and a line, such as main.c:12, not '%s'", argument);
	return set_element(settings, ELEMENT_LINE, argument);
}

static int set_path(struct settings *settings, const char *argument)
{
	return set_element(settings, ELEMENT_PATH, argument);
}

static int set_scale(struct settings *settings, const char *argument)
{
	char *end;
	double scale = strtod(argument, &end);

	if (end == argument || *end || !(scale >= 0 && scale <= 1))
		return fail_plain(-EINVAL, "--scale takes a number from 0 to 1, not '%s'", argument);
	settings->whatif.scale = scale;
	return 0;
}

static int set_cpus(struct settings *settings, const char *argument)
{
	return number_parse("cpus", argument, 1, CPUS_MAX, &settings->whatif.cpu_count);
}

static int set_span(struct settings *settings, const char *argument)
{
	settings->graph.execution = argument;
	return own_span_option(settings, argument);
}

static const struct option_spec whatif_options[] = {
	{ "lock", 0, "NAME", "make the waits for this lock, condition or barrier shorter", set_lock },
	{ "waits", 0, "FUNCTION", "make the waits in this function and below it shorter", set_waits },
	{ "cause", 0, "CAUSE", "make the waits of this cause shorter, such as sleep or file", set_cause },
	{ "wakeups", 0, "NAME", "make sleeping for this lock or condition, and waking up, take less time",
	  set_wakeups },
	{ "function", 0, "NAME", "make the running of this function and of what it calls shorter", set_function },
	{ "line", 0, "PLACE", "make the running of this line, FILE:LINE, and what it calls shorter", set_line },
	{ "path", 0, "CALLS", "make the running of C shorter where A;B;C call each other", set_path },
	{ "span", 0, "NAME",
	  "also say how long the executions of this span would take: its name, or two events of a program's\n"
	  "own: SUBSYSTEM:EVENT..EVENT[key=FIELD]",
	  set_span },
	{ "scale", 0, "F", "the part of their time that is left: 0 to 1 (default: 0.5)", set_scale },
	{ "cpus", 0, "N", "replay on N CPUs (default: as many as the threads ran on)", set_cpus },
	{ "json", 0, "FILE", "write the result as JSON; - is standard output", settings_set_json },
	{ "output", 'o', "FILE", "write the text to FILE", settings_set_output },
	{ 0 },
};

static const struct option_spec *const options[] = { whatif_options, names_options, common_options, NULL };

const struct command whatif_command = {
	.name = "whatif",
	.usage = "[options] FILE",
	.summary = "Predict how long a traced run would have taken if something were faster",
	.description = "FILE is a trace of pinch record. It is replayed with one lock, cause or function shortened,\n"
		       "or on another number of CPUs. Without these options, pinch shows which changes gain most.",
	.options = options,
	.run = whatif_run,
};
