/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/row_lists.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/memory.h"
#include "lanes/lane_activities.h"
#include "lanes/lane_filter.h"
#include "lanes/lanes.h"
#include "lanes/lanes_json.h"
#include "lanes/span_list.h"
#include "lanes/wait_lengths.h"
#include "lanes/wait_list.h"
#include "query/trace_states.h"
#include "serve/answer.h"
#include "serve/lane_list.h"
#include "serve/page_scripts.h"
#include "serve/part_choices.h"
#include "view/json/json_parts.h"

enum { ROWS_AT_ONCE_MAX = 1000, WORD_BYTES = 256, NUMBER_BYTES = 32, STATUS_BAD_REQUEST = 400 };

static const uint64_t reading_ns = 50000000; /* for each request */

struct row_lists {
	struct row_source source;
	struct wait_list *waits; /* NULL: none were asked for yet */
	struct lane_filter of_waits;
};

struct row_lists *row_lists_new(const struct row_source *source)
{
	struct row_lists *lists = xcalloc(1, sizeof(*lists));

	lists->source = *source;
	return lists;
}

void row_lists_free(struct row_lists *lists)
{
	if (!lists)
		return;
	wait_list_free(lists->waits);
	free(lists);
}

/* NULL: the reply says why there are none. */
static struct lane_activities *activities_of(const struct row_lists *lists, const struct request *request,
					     struct reply *reply)
{
	struct page_script script;

	if (!page_scripts_find(lists->source.scripts, request, reply, &script))
		return NULL;
	return script.activities ? script.activities : lists->source.activities;
}

/* Scripts of readers go on when they are asked for themselves: page_scripts_answer(). */
static void go_on(const struct row_lists *lists, struct lane_activities *activities)
{
	if (activities == lists->source.activities)
		lane_activities_step(activities, reading_ns);
}

void row_lists_answer_drawn(struct row_lists *lists, const struct request *request, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(lists->source.all, 0);
	struct lane_activities *activities;
	struct part_choice *choice;
	struct lane_list list;
	int64_t from_ns, to_ns;

	if (!request_number(request, "from", INT64_MIN, INT64_MAX, &from_ns) ||
	    !request_number(request, "to", from_ns, INT64_MAX, &to_ns) ||
	    !lane_list_read(request, lists->source.lanes, &list)) {
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "activities need a range of time, from and to, and lanes, such as 0-5,9");
		return;
	}
	activities = activities_of(lists, request, reply);
	if (!activities || !part_choices_find(lists->source.choices, request, reply, &choice))
		return;
	go_on(lists, activities);
	lane_activities_put_json(activities,
				 &(struct activity_question){
					 .from_ns = first_ns + from_ns,
					 .to_ns = first_ns + to_ns,
					 .first_ns = first_ns,
					 .lanes = list.ids,
					 .lane_count = list.count,
					 .choice = choice,
				 },
				 &reply->body);
}

/* --- What is asked for --------------------------------------------------------------------------- */

struct chosen {
	struct lane_filter filter;
	char search[WORD_BYTES];
	struct lane_activities *activities;
	struct part_choice *choice; /* of activities */
};

static bool take_threads(const struct request *request, struct lane_filter *filter)
{
	char word[NUMBER_BYTES], *end;

	while (request_text_at(request, "thread", filter->thread_count, word, sizeof(word))) {
		if (filter->thread_count == LANE_FILTER_THREADS_MAX || word[0] < '0' || word[0] > '9')
			return false;
		filter->threads[filter->thread_count++] = strtoul(word, &end, 10);
		if (*end)
			return false;
	}
	return true;
}

static bool take_causes(const struct request *request, struct lane_filter *filter)
{
	char word[NUMBER_BYTES];
	unsigned int share;

	for (size_t i = 0; request_text_at(request, "cause", i, word, sizeof(word)); i++) {
		for (share = 0; share < SHARES && strcmp(lane_share_name(share), word) != 0;)
			share++;
		if (share == SHARES)
			return false;
		filter->shares |= 1ull << share;
	}
	return true;
}

/* False: the reply says what is wrong. */
static bool take_filter(const struct row_lists *lists, const struct request *request, struct chosen *chosen,
			struct reply *reply)
{
	uint64_t first_ns = trace_states_time(lists->source.all, 0);
	int64_t from_ns, to_ns, least_ns = 0, longest;

	memset(chosen, 0, sizeof(*chosen)); /* filters are compared byte by byte */
	chosen->filter.to_ns = UINT64_MAX;
	if (request_number(request, "from", INT64_MIN, INT64_MAX, &from_ns))
		chosen->filter.from_ns = first_ns + from_ns;
	if (request_number(request, "to", INT64_MIN, INT64_MAX, &to_ns))
		chosen->filter.to_ns = first_ns + to_ns;
	request_number(request, "least", 0, INT64_MAX, &least_ns);
	chosen->filter.longest_first = request_number(request, "longest-first", 1, 1, &longest);
	chosen->filter.least_ns = least_ns;
	request_text(request, "search", chosen->search, sizeof(chosen->search));
	chosen->filter.search = chosen->search;
	chosen->activities = activities_of(lists, request, reply);
	if (!chosen->activities)
		return false;
	if (take_threads(request, &chosen->filter) && take_causes(request, &chosen->filter) &&
	    part_filter_read(request, first_ns, &chosen->filter.parts))
		return part_choices_find(lists->source.choices, request, reply, &chosen->choice);
	reply_fail(
		reply, STATUS_BAD_REQUEST,
		"rows are of at most %d threads, by number, of causes by name, and of at most %d objects, %d spans and %d CPUs",
		LANE_FILTER_THREADS_MAX, PART_FILTER_WORDS_MAX, PART_FILTER_WORDS_MAX, PART_FILTER_CPUS_MAX);
	return false;
}

/* Those of this filter, as far as they are found. */
static struct wait_list *waits_of(struct row_lists *lists, const struct lane_filter *asked)
{
	struct lane_filter filter = *asked;

	filter.search = "";
	if (!lists->waits || memcmp(&filter, &lists->of_waits, sizeof(filter)) != 0) {
		wait_list_free(lists->waits);
		lists->of_waits = filter;
		lists->waits = wait_list_new(lists->source.all, lists->source.lanes, lists->source.labels, &filter);
	}
	wait_list_step(lists->waits, reading_ns);
	return lists->waits;
}

/* --- Answers ------------------------------------------------------------------------------------- */

void row_lists_answer(struct row_lists *lists, enum row_list_kind kind, const struct request *request,
		      struct reply *reply)
{
	int64_t row = 0, count = 100;
	struct chosen chosen;

	request_number(request, "row", 0, INT64_MAX, &row);
	request_number(request, "count", 0, ROWS_AT_ONCE_MAX, &count);
	if (!take_filter(lists, request, &chosen, reply))
		return;
	switch (kind) {
	case ROW_LIST_ACTIVITIES:
		go_on(lists, chosen.activities);
		lane_activities_put_rows(chosen.activities, &(struct activity_rows){ &chosen.filter, chosen.choice },
					 trace_states_time(lists->source.all, 0), row, count, &reply->body);
		break;
	case ROW_LIST_WAITS:
		wait_list_put_rows(waits_of(lists, &chosen.filter), row, count, &reply->body);
		break;
	case ROW_LIST_SPANS:
		span_list_put_rows(lists->source.all, &chosen.filter, row, count, &reply->body);
		break;
	}
}

void row_lists_answer_lengths(struct row_lists *lists, enum row_list_kind kind, const struct request *request,
			      struct reply *reply)
{
	struct chosen chosen;

	(void)kind; /* others have no lengths to be looked at */
	if (take_filter(lists, request, &chosen, reply))
		wait_lengths_put_json(waits_of(lists, &chosen.filter), lists->source.labels, &reply->body);
}

static size_t row_at(struct row_lists *lists, enum row_list_kind kind, const struct chosen *chosen, uint64_t time_ns)
{
	const struct lane_filter *filter = &chosen->filter;

	switch (kind) {
	case ROW_LIST_ACTIVITIES:
		return lane_activities_row_at(chosen->activities, &(struct activity_rows){ filter, chosen->choice },
					      time_ns);
	case ROW_LIST_WAITS:
		return wait_list_row_at(waits_of(lists, filter), time_ns);
	case ROW_LIST_SPANS:
		return span_list_row_at(lists->source.all, filter, time_ns);
	}
	return 0;
}

void row_lists_answer_at(struct row_lists *lists, enum row_list_kind kind, const struct request *request,
			 struct reply *reply)
{
	int64_t since_ns = 0;
	struct chosen chosen;
	struct json json;

	if (!request_number(request, "time", INT64_MIN, INT64_MAX, &since_ns)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "a row at a time needs a time in ns since the first event");
		return;
	}
	if (!take_filter(lists, request, &chosen, reply))
		return;
	json_init(&json, &reply->body);
	json_begin_object(&json);
	json_put_uint(&json, "row", row_at(lists, kind, &chosen, trace_states_time(lists->source.all, 0) + since_ns));
	json_end_object(&json);
	json_fini(&json);
}
