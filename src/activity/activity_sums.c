/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/activity_sums.h"

#include <stdlib.h>
#include <string.h>

#include "activity/activity.h"
#include "activity/event_context.h"
#include "base/memory.h"
#include "base/table.h"
#include "session/hosts.h"
#include "session/threads.h"

enum { SUMS_MAX = 1000 };

struct activity_sums {
	struct activity_sum **list;
	size_t count, capacity;
	struct table *by_name; /* by a hash of source and name; where two have one, only the first is found so */
	uint64_t left_out;
};

struct activity_sums *activity_sums_new(void)
{
	struct activity_sums *sums = xcalloc(1, sizeof(*sums));

	sums->by_name = table_new();
	return sums;
}

void activity_sums_free(struct activity_sums *sums)
{
	if (!sums)
		return;
	for (size_t i = 0; i < sums->count; i++) {
		free(sums->list[i]->source);
		free(sums->list[i]->name);
		free(sums->list[i]);
	}
	free(sums->list);
	table_free(sums->by_name);
	free(sums);
}

static bool is_of(const struct activity_sum *sum, const struct activity *activity)
{
	if (!sum->source != !activity->source || (sum->source && strcmp(sum->source, activity->source)))
		return false;
	return !strcmp(sum->name, activity->name);
}

/* NULL: there are too many. */
static struct activity_sum *sum_get(struct activity_sums *sums, const struct activity *activity)
{
	uint64_t key = hash_string(hash_string(0, activity->source ? activity->source : ""), activity->name);
	struct activity_sum *sum = table_find(sums->by_name, key);

	if (sum && is_of(sum, activity))
		return sum;
	for (size_t i = 0; sum && i < sums->count; i++)
		if (is_of(sums->list[i], activity))
			return sums->list[i];
	if (sums->count == SUMS_MAX)
		return NULL;
	ARRAY_GROW(sums->list, sums->count, sums->capacity, 16);
	sums->list[sums->count++] = xcalloc(1, sizeof(*sum));
	if (!sum)
		table_put(sums->by_name, key, sums->list[sums->count - 1]);
	sum = sums->list[sums->count - 1];
	sum->source = activity->source ? xstrdup(activity->source) : NULL;
	sum->name = xstrdup(activity->name);
	return sum;
}

static void note_longest(struct activity_sum *sum, const struct activity *activity, const struct event_context *context)
{
	const struct thread *thread = event_context_thread(context, activity->thread);

	sum->max_ns = activity->end_ns - activity->begin_ns;
	sum->max_begin_ns = activity->begin_ns;
	sum->max_thread = activity->thread;
	sum->max_tid = thread ? id_on_host(thread->tid) : 0;
	memset(sum->max_thread_name, 0, sizeof(sum->max_thread_name));
	if (thread)
		memcpy(sum->max_thread_name, thread->name, sizeof(sum->max_thread_name) - 1);
}

void activity_sums_add(struct activity_sums *sums, const struct activity *activity, const struct event_context *context)
{
	struct activity_sum *sum = sum_get(sums, activity);
	uint64_t length_ns = activity->end_ns - activity->begin_ns;
	uint32_t *length;

	if (!sum) {
		sums->left_out++;
		return;
	}
	if (!sum->count++ || length_ns > sum->max_ns)
		note_longest(sum, activity, context);
	sum->total_ns = sum->total_ns + length_ns < length_ns ? UINT64_MAX : sum->total_ns + length_ns;
	length = &sum->lengths[length_index(length_ns)];
	*length += *length < UINT32_MAX;
}

const struct activity_sum *activity_sums_get(const struct activity_sums *sums, size_t i)
{
	return i < sums->count ? sums->list[i] : NULL;
}

uint64_t activity_sums_left_out(const struct activity_sums *sums)
{
	return sums->left_out;
}
