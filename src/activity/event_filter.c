/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/event_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "activity/named_event.h"
#include "base/table.h"
#include "base/text.h"
#include "session/hosts.h"
#include "session/threads.h"
#include "values.h"

static const char *const names[FILTER_KINDS] = { "host", "cpu", "process", "thread", "subsystem", "event" };

const char *filter_kind_name(enum filter_kind kind)
{
	return names[kind];
}

bool event_filter_is_set(const struct event_filter *filter)
{
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		if (filter->words[kind].count)
			return true;
	return false;
}

static bool is_number(const char *word, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(word, &end, 10);
	return *word >= '0' && *word <= '9' && !*end && !errno;
}

int event_filter_add(struct event_filter *filter, enum filter_kind kind, const char *word)
{
	struct filter_words *words = &filter->words[kind];
	uint64_t number;

	if (words->count == FILTER_WORDS_MAX)
		return -E2BIG;
	if (!*word || (kind == FILTER_CPU && (!is_number(word, &number) || number >= CPUS_MAX)))
		return -EINVAL;
	words->words[words->count++] = word;
	return 0;
}

static bool is_thread(const struct event_filter *filter, const struct named_event *event, const char *word,
		      uint32_t number)
{
	const struct thread *thread = event_context_thread(event->context, number);
	uint64_t id;

	if (filter->threads)
		return table_find(filter->threads, number);
	if (is_number(word, &id) && (id == number || (thread && id == id_on_host(thread->tid))))
		return true;
	return thread && !strcmp(word, thread->name);
}

static bool is_process(const struct named_event *event, const char *word, uint32_t number)
{
	const struct thread *thread = event_context_thread(event->context, number);
	uint64_t id;

	if (!thread || !thread->pid)
		return false;
	return (is_number(word, &id) && id == id_on_host(thread->pid)) ||
	       !strcmp(word, event_context_application(event->context, thread->pid)) ||
	       !strcmp(word, event_context_process(event->context, thread->pid));
}

static bool is_cpu(const struct named_event *event, const char *word)
{
	uint64_t cpu;

	return is_number(word, &cpu) && cpu == named_event_cpu(event);
}

static bool is_met(const struct event_filter *filter, const struct named_event *event, enum filter_kind kind,
		   const char *word)
{
	switch (kind) {
	case FILTER_CPU:
		return is_cpu(event, word);
	case FILTER_PROCESS:
		return is_process(event, word, event->thread) || is_process(event, word, event->other_thread);
	case FILTER_THREAD:
		return is_thread(filter, event, word, event->thread) ||
		       is_thread(filter, event, word, event->other_thread);
	case FILTER_SUBSYSTEM:
		return !strcmp(word, event->subsystem);
	case FILTER_HOST:
		return !strcmp(word, named_event_host(event));
	default:
		return named_event_is(event, word);
	}
}

static bool is_in_time(const struct event_filter *filter, const struct named_event *event)
{
	uint64_t ns = event->time_ns < event->first_ns ? 0 : event->time_ns - event->first_ns;

	return ns >= filter->from_ns && (!filter->to_ns || ns < filter->to_ns);
}

bool event_filter_passes(struct event_filter *filter, const struct named_event *event)
{
	/* What costs least comes first. */
	static const enum filter_kind order[] = { FILTER_SUBSYSTEM, FILTER_EVENT,   FILTER_HOST,
						  FILTER_THREAD,    FILTER_PROCESS, FILTER_CPU };

	if (!is_in_time(filter, event) ||
	    (filter->has_moment && !filter->has_moment(filter->moments, event->thread, event->time_ns)))
		return false;
	for (size_t k = 0; k < sizeof(order) / sizeof(*order); k++) {
		struct filter_words *words = &filter->words[order[k]];
		bool passes = !words->count;

		for (size_t i = 0; i < words->count && !passes; i++)
			if (is_met(filter, event, order[k], words->words[i]))
				words->is_met[i] = passes = true;
		if (!passes)
			return false;
	}
	return true;
}

void event_filter_put(const struct event_filter *filter, struct text *text)
{
	const char *separator = "";

	for (int kind = 0; kind < FILTER_KINDS; kind++)
		for (size_t i = 0; i < filter->words[kind].count; i++) {
			text_printf(text, "%s--%s ", separator, names[kind]);
			text_put_escaped(text, filter->words[kind].words[i]);
			separator = " ";
		}
}
