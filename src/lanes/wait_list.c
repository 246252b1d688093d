/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lanes/wait_list.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "graph/graph_label.h"
#include "graph/wait_end.h"
#include "lanes/lane_filter.h"
#include "lanes/lanes.h"
#include "lanes/lanes_json.h"
#include "lanes/part_choice.h"
#include "lanes/state_json.h"
#include "query/trace_states.h"
#include "states/states.h"
#include "view/json/json_parts.h"

enum { KEPT_MAX = 1 << 19, THREADS_BETWEEN_LOOKS = 64 };

struct wait_list {
	const struct trace_states *all;
	const struct lanes *lanes;
	struct graph_labels *labels;
	struct lane_filter filter;
	struct listed_wait *list;
	size_t count, capacity;
	size_t listed;              /* of them: those behind may still have others before them */
	uint64_t at_ns;             /* up to when all waits are there */
	uint64_t until_ns;          /* the end of the stretch in which they are looked for */
	size_t thread;              /* the next one of the stretch from at_ns on */
	struct part_choice *choice; /* NULL: parts do not matter */
	uint64_t kept_ns;           /* none that is shorter is kept any more */
	uint64_t left_out;
};

struct wait_list *wait_list_new(const struct trace_states *all, const struct lanes *lanes, struct graph_labels *labels,
				const struct lane_filter *filter)
{
	static const struct part_filter nothing;
	struct wait_list *list = xcalloc(1, sizeof(*list));
	uint64_t begin_ns = 0, end_ns = states_end_ns(all->states);

	for (size_t i = 0; i < lanes->thread_count; i++)
		if (!begin_ns || lanes->threads[i].begin_ns < begin_ns)
			begin_ns = lanes->threads[i].begin_ns;
	list->all = all;
	list->lanes = lanes;
	list->labels = labels;
	list->filter = *filter;
	if (memcmp(&filter->parts, &nothing, sizeof(nothing)) != 0)
		list->choice = part_choice_new(all, labels, &filter->parts);
	list->at_ns = filter->from_ns > begin_ns ? filter->from_ns : begin_ns;
	list->until_ns = filter->to_ns < end_ns ? filter->to_ns : end_ns;
	return list;
}

void wait_list_free(struct wait_list *list)
{
	if (!list)
		return;
	part_choice_free(list->choice);
	free(list->list);
	free(list);
}

/* --- Finding them -------------------------------------------------------------------------------- */

static struct graph_node node_of(uint32_t thread, const struct state *state)
{
	if (state->kind == STATE_BLOCKED)
		return (struct graph_node){ .kind = GRAPH_WAIT, .wait = graph_wait_of(thread, state) };
	return (struct graph_node){
		.kind = state->value.why == READY_THROTTLED ? GRAPH_CPU_LIMIT : GRAPH_CPU,
		.id = thread,
	};
}

static bool is_wanted(const struct wait_list *list, const struct state *state, unsigned int share)
{
	return (state->kind == STATE_BLOCKED || state->kind == STATE_RUNNABLE) &&
	       (!list->filter.shares || list->filter.shares >> share & 1) &&
	       lane_filter_has_time(&list->filter, state->begin_ns, state->end_ns);
}

static uint64_t length_ns(const struct listed_wait *wait)
{
	return wait->end_ns - wait->begin_ns;
}

static int by_begin(const void *a, const void *b)
{
	const struct listed_wait *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static int longest_first(const void *a, const void *b)
{
	uint64_t a_ns = length_ns(a), b_ns = length_ns(b);

	return a_ns == b_ns ? by_begin(a, b) : (a_ns < b_ns) - (a_ns > b_ns);
}

/* Half of those that are kept, the shorter ones, make place for longer ones. */
static void drop_short(struct wait_list *list)
{
	qsort(list->list, list->count, sizeof(*list->list), longest_first);
	list->left_out += list->count - list->count / 2;
	list->count /= 2;
	list->listed = list->count;
	list->kept_ns = length_ns(&list->list[list->count - 1]);
}

static void add(struct wait_list *list, uint32_t thread, const struct state *state, unsigned int share)
{
	if (list->count == KEPT_MAX && list->filter.longest_first)
		drop_short(list);
	if (list->count == KEPT_MAX || state->end_ns - state->begin_ns < list->kept_ns) {
		list->left_out++;
		return;
	}
	ARRAY_GROW(list->list, list->count, list->capacity, 256);
	list->list[list->count++] = (struct listed_wait){ state->begin_ns, state->end_ns, thread, share };
}

static void search_thread(struct wait_list *list, uint32_t thread, uint64_t to_ns)
{
	struct state_walk walk;
	struct state state;

	states_walk(list->all->states, thread, list->at_ns, to_ns, &walk);
	while (state_walk_next(&walk, &state)) {
		unsigned int share = state_share(state.kind, state.value.why);

		if (state.begin_ns >= list->at_ns && state.begin_ns < to_ns && is_wanted(list, &state, share) &&
		    (!list->choice || part_choice_has(list->choice, thread, &state)))
			add(list, thread, &state, share);
	}
}

/* All threads of a stretch are looked at: what was found there is in order behind what was found before it. */
static void end_stretch(struct wait_list *list, uint64_t to_ns)
{
	if (list->count > list->listed && !list->filter.longest_first)
		qsort(list->list + list->listed, list->count - list->listed, sizeof(*list->list), by_begin);
	list->listed = list->count;
	list->at_ns = to_ns;
	list->thread = 0;
}

void wait_list_step(struct wait_list *list, uint64_t budget_ns)
{
	uint64_t deadline_ns = clock_ns() + budget_ns;

	while (list->at_ns < list->until_ns && clock_ns() < deadline_ns) {
		uint64_t next_ns = states_next_block_ns(list->all->states, list->at_ns);

		if (next_ns > list->until_ns)
			next_ns = list->until_ns;
		for (int i = 0; i < THREADS_BETWEEN_LOOKS && list->thread < list->lanes->thread_count; i++) {
			uint32_t thread = list->lanes->threads[list->thread++].number;

			if (lane_filter_has_thread(&list->filter, thread, thread))
				search_thread(list, thread, next_ns);
		}
		if (list->thread == list->lanes->thread_count)
			end_stretch(list, next_ns);
	}
	if (list->filter.longest_first && list->count) {
		qsort(list->list, list->count, sizeof(*list->list), longest_first);
		list->listed = list->count;
	}
}

/* --- Rows ---------------------------------------------------------------------------------------- */

static const char *ended_by(const struct wait_list *list, const struct state *state)
{
	return state_ended_by(list->labels, state->kind == STATE_BLOCKED ? &state->ended : &state->value);
}

static const char *what_of(const struct wait_list *list, uint32_t thread, const struct state *state)
{
	struct graph_node node = node_of(thread, state);

	return graph_label(list->labels, &node);
}

/* NULL: it is not known, or the wait is for a CPU. */
static const char *object_of(const struct wait_list *list, uint32_t thread, const struct state *state)
{
	struct graph_wait wait = graph_wait_of(thread, state);

	return state->kind == STATE_BLOCKED ? graph_wait_object(list->labels, &wait) : NULL;
}

static void put_row(const struct wait_list *list, struct json *json, size_t row)
{
	const struct listed_wait *wait = &list->list[row];
	uint64_t first_ns = trace_states_time(list->all, 0);
	bool is_known;
	struct state state;

	is_known = states_at(list->all->states, wait->thread, wait->begin_ns, &state);
	json_on_one_line(json);
	json_begin_object(json);
	json_put_uint(json, "row", row);
	json_key(json, "time_ns");
	json_int(json, (int64_t)(wait->begin_ns - first_ns));
	json_key(json, "end_ns");
	json_int(json, (int64_t)(wait->end_ns - first_ns));
	json_put_uint(json, "thread", wait->thread);
	json_put_string(json, "share", lane_share_name(wait->share));
	json_put_string(json, "text", is_known ? what_of(list, wait->thread, &state) : "");
	json_put_string(json, "object", is_known ? object_of(list, wait->thread, &state) : NULL);
	json_put_string(json, "ended_by", is_known ? ended_by(list, &state) : NULL);
	json_end_object(json);
}

void wait_list_put_rows(const struct wait_list *list, size_t row, size_t count, struct text *out)
{
	struct json json;

	json_init(&json, out);
	json_begin_object(&json);
	json_put_uint(&json, "first", row);
	json_key(&json, "events");
	json_begin_array(&json);
	for (size_t i = row; i < list->listed && i - row < count; i++)
		put_row(list, &json, i);
	json_end_array(&json);
	json_put_uint(&json, "rows", list->listed);
	json_key(&json, "is_counted");
	json_bool(&json, list->at_ns >= list->until_ns);
	json_put_uint(&json, "left_out", list->left_out);
	json_end_object(&json);
	json_fini(&json);
}

/* Of the first one that begins then, among all. */
static size_t row_among_lengths(const struct wait_list *list, uint64_t time_ns)
{
	size_t row = list->listed;

	for (size_t i = 0; i < list->listed; i++)
		if (list->list[i].begin_ns >= time_ns &&
		    (row == list->listed || by_begin(&list->list[i], &list->list[row]) < 0))
			row = i;
	return row;
}

size_t wait_list_row_at(const struct wait_list *list, uint64_t time_ns)
{
	if (list->filter.longest_first)
		return row_among_lengths(list, time_ns);
	return BOUND(0, list->listed, i, list->list[i].begin_ns < time_ns);
}

const struct listed_wait *wait_list_found(const struct wait_list *list, struct wait_list_count *out)
{
	*out = (struct wait_list_count){ list->listed, list->left_out, list->at_ns >= list->until_ns };
	return list->list;
}
