/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of all that show who waits for whom. */
#include <errno.h>
#include <stdlib.h>

#include "base/fail.h"
#include "options/own_span_option.h"
#include "options/settings.h"

static int set_min(struct settings *settings, const char *argument)
{
	char *end;
	double percent = strtod(argument, &end);

	if (end == argument || *end || !(percent >= 0 && percent <= 100))
		return fail_plain(-EINVAL, "--min takes a percentage from 0 to 100, not '%s'", argument);
	settings->graph.share_min = percent / 100;
	return 0;
}

static int set_dot(struct settings *settings, const char *argument)
{
	settings->graph.dot_path = argument;
	return 0;
}

static int set_svg(struct settings *settings, const char *argument)
{
	settings->graph.svg_path = argument;
	return 0;
}

static int set_merge(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->graph.is_by_group = true;
	return 0;
}

static int set_process(struct settings *settings, const char *argument)
{
	struct thread_words *processes = &settings->processes;

	if (processes->count == THREAD_WORDS_MAX)
		return fail_plain(-EINVAL, "--process can be given at most %d times", THREAD_WORDS_MAX);
	processes->words[processes->count++] = argument;
	return 0;
}

static int set_span(struct settings *settings, const char *argument)
{
	settings->graph.execution = argument;
	return own_span_option(settings, argument);
}

int dependency_check(const struct settings *settings)
{
	const struct time_range *range = &settings->range;

	if (range->to_ns <= range->from_ns)
		return fail_plain(-EINVAL, "--to must be later than --from");
	if (settings->graph.execution &&
	    (range->from_ns || range->to_ns != UINT64_MAX || settings->threads.count || settings->processes.count))
		return fail_plain(-EINVAL, "--span already selects a thread and a time: leave out --thread, "
					   "--process, --from and --to");
	return 0;
}

/* Whose. */
const struct option_spec whose_options[] = {
	{ "process", 0, "WHO", "only threads of this process: its PID or the name of its first thread; may be repeated",
	  set_process },
	{ "span", 0, "NAME",
	  "only this execution (its thread and its time): NAME:slowest, or NAME:12 with a number from pinch spans; NAME may be\n"
	  "two events of a program's own: SUBSYSTEM:EVENT..EVENT[key=FIELD]",
	  set_span },
	{ 0 },
};

const struct option_spec merged_options[] = {
	{ "merge", 0, NULL, "merge threads whose names differ only in numbers", set_merge },
	{ 0 },
};

const struct option_spec picture_options[] = {
	{ "dot", 0, "FILE", "write the graph in the DOT language of Graphviz", set_dot },
	{ "svg", 0, "FILE", "write the graph as an SVG image, drawn by Graphviz", set_svg },
	{ 0 },
};

const struct option_spec dependency_options[] = {
	{ "min", 0, "PERCENT", "leave out parts with a smaller share of the time (default: 0.5)", set_min },
	{ "json", 0, "FILE", "write the result as JSON; - is standard output", settings_set_json },
	{ "output", 'o', "FILE", "write the text to FILE", settings_set_output },
	{ 0 },
};
