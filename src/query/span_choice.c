/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "query/span_choice.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "options/settings.h"
#include "query/chosen_threads.h"
#include "query/trace_states.h"
#include "spans/execution_log.h"

/* -ENOENT: none. */
static int find_name(const struct trace_states *all, const char *name, size_t length)
{
	for (int i = 0; i < SPANS_MAX; i++) {
		const struct span *span = execution_log_span(all->executions, i);

		if (span && strlen(span->name) == length && !memcmp(span->name, name, length))
			return i;
	}
	return -ENOENT;
}

static int say_names(const struct trace_states *all, const char *path, const char *name)
{
	struct text names = { 0 };
	int err;

	for (int i = 0; i < SPANS_MAX; i++) {
		const struct span *span = execution_log_span(all->executions, i);

		if (span) {
			text_put(&names, names.length ? ", " : "");
			text_put_escaped(&names, span->name);
		}
	}
	if (names.length)
		err = fail_plain(-ENOENT, "%s has no span %s, but %s", path, name, names.bytes);
	else
		err = fail_plain(-ENOENT, "%s contains no spans: record it with --span, see pinch help record", path);
	text_fini(&names);
	return err;
}

int span_find(const struct trace_states *all, const char *path, const char *name)
{
	int span = find_name(all, name, strlen(name));

	return span >= 0 ? span : say_names(all, path, name);
}

/* "slowest" or the number of one of them. */
struct choice {
	int span;
	unsigned long number; /* 0: the slowest */
};

/* The name of a span may have colons itself. */
static int parse(const struct trace_states *all, const char *path, const char *word, struct choice *choice)
{
	const char *colon = strrchr(word, ':');
	char *end;

	*choice = (struct choice){ .span = find_name(all, word, strlen(word)) };
	if (choice->span >= 0)
		return 0;
	if (colon)
		choice->span = find_name(all, word, colon - word);
	if (choice->span < 0)
		return say_names(all, path, word);
	if (!strcmp(colon + 1, "slowest"))
		return 0;
	choice->number = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || !choice->number)
		return fail_plain(-EINVAL, "--span takes NAME:slowest or NAME:NUMBER, not '%s'", word);
	return 0;
}

static const struct execution *find(const struct trace_states *all, const struct choice *choice)
{
	const struct executions *executions = execution_log_all(all->executions);
	const struct execution *found = NULL;
	unsigned long number = 0;

	for (size_t i = 0; i < executions->count; i++) {
		const struct execution *at = &executions->list[i];

		if (at->span != (uint32_t)choice->span)
			continue;
		number++;
		if (number == choice->number)
			return at;
		if (!choice->number && (!found || at->end_ns - at->begin_ns > found->end_ns - found->begin_ns))
			found = at;
	}
	return found;
}

static int narrow(const char *path, const struct trace_states *all, struct settings *part,
		  struct chosen_threads *chosen)
{
	uint64_t first_ns = trace_states_time(all, 0);
	const struct execution *execution;
	struct choice choice;
	int err = parse(all, path, part->graph.execution, &choice);

	if (err)
		return err;
	execution = find(all, &choice);
	if (!execution || execution->begin_ns < first_ns || execution->begin_ns == execution->end_ns)
		return fail_plain(-ENOENT, "%s has no such execution: %s", path, part->graph.execution);
	part->range.from_ns = execution->begin_ns - first_ns;
	part->range.to_ns = execution->end_ns - first_ns;
	chosen->numbers = xcalloc(1, sizeof(*chosen->numbers));
	chosen->numbers[0] = execution->thread;
	chosen->count = chosen->capacity = 1;
	return 0;
}

int part_find(const struct settings *settings, const char *path, const struct trace_states *all, struct settings *part,
	      struct chosen_threads *chosen)
{
	*part = *settings;
	if (settings->graph.execution)
		return narrow(path, all, part, chosen);
	return chosen_threads_find(settings, path, all, chosen);
}
