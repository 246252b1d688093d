/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_threads.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/event_kinds.h"
#include "values.h"

enum { RECENT = 1024 };

/* A thread that lives, as far as the trace says. */
struct living {
	uint32_t number;
	uint32_t list; /* the last list of threads by, or after, which it was seen */
};

struct trace_threads {
	struct table *by_number;
	size_t alive_max, ever_count, ever_max;
	struct living *recent[RECENT]; /* by number: spares most look-ups */
	uint32_t list;                 /* the latest one */
};

struct trace_threads *trace_threads_new(size_t alive_max, size_t ever_max)
{
	struct trace_threads *threads = xcalloc(1, sizeof(*threads));

	threads->by_number = table_new();
	threads->alive_max = alive_max;
	threads->ever_max = ever_max;
	return threads;
}

void trace_threads_free(struct trace_threads *threads)
{
	struct living *living;
	size_t cursor = 0;

	if (!threads)
		return;
	while ((living = table_next(threads->by_number, &cursor)))
		free(living);
	table_free(threads->by_number);
	free(threads);
}

static inline bool admit(struct trace_threads *threads, uint32_t number)
{
	struct living **recent = &threads->recent[number % RECENT], *living = *recent;

	if (!number)
		return true;
	if (!living || living->number != number) {
		living = table_find(threads->by_number, number);
		if (!living &&
		    (table_count(threads->by_number) >= threads->alive_max || threads->ever_count >= threads->ever_max))
			return false;
		if (!living) {
			threads->ever_count++;
			living = xcalloc(1, sizeof(*living));
			living->number = number;
			table_put(threads->by_number, number, living);
		}
		*recent = living;
	}
	living->list = threads->list;
	return true;
}

static void forget(struct trace_threads *threads, uint32_t number)
{
	if (threads->recent[number % RECENT] && threads->recent[number % RECENT]->number == number)
		threads->recent[number % RECENT] = NULL;
	free(table_take(threads->by_number, number));
}

/* A list of all that live has ended: the deaths of others are lost. */
static void forget_unlisted(struct trace_threads *threads)
{
	struct table *left = table_new();
	struct living *living;
	size_t cursor = 0;

	while ((living = table_next(threads->by_number, &cursor))) {
		if (living->list == threads->list)
			table_put(left, living->number, living);
		else
			free(living);
	}
	table_free(threads->by_number);
	threads->by_number = left;
	for (size_t i = 0; i < RECENT; i++)
		threads->recent[i] = NULL;
}

bool trace_threads_admit(struct trace_threads *threads, const struct ev_header *header)
{
	bool is_admitted = admit(threads, header->thread);

	/* Most events by far, and the only ones with another thread. */
	if (header->subsys == TRACE_SUBSYS_SCHED) {
		is_admitted = is_admitted && admit(threads, event_other_thread(header));
		if (header->event == TRACE_EVENT_SCHED_SWITCH &&
		    ((const struct ev_sched_switch *)header)->state == SWITCH_DEAD)
			forget(threads, header->thread);
	} else if (header->subsys == TRACE_SUBSYS_COLLECT) {
		if (header->event == TRACE_EVENT_COLLECT_SYNC_BEGIN)
			threads->list++;
		else if (header->event == TRACE_EVENT_COLLECT_SYNC_END)
			forget_unlisted(threads);
	}
	return is_admitted;
}
