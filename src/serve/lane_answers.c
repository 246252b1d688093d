/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/lane_answers.h"

#include <string.h>

#include "lanes/alike_json.h"
#include "lanes/lane_marks.h"
#include "lanes/lanes.h"
#include "lanes/lanes_json.h"
#include "lanes/state_json.h"
#include "lanes/stretch_json.h"
#include "lanes/tile.h"
#include "query/trace_states.h"
#include "serve/answer.h"
#include "serve/lane_list.h"
#include "serve/part_choices.h"
#include "serve/script_marks.h"
#include "serve/viewed.h"
#include "session/threads.h"
#include "states/states.h"

enum { STATUS_NO_CONTENT = 204, STATUS_BAD_REQUEST = 400, STATUS_NOT_FOUND = 404 };

static const uint64_t alike_budget_ns = 300000000;

/* Nothing comes any more where the tile is; and lanes are named by a key. */
static bool is_complete(const struct viewed *viewed, uint64_t origin_ns, unsigned int shift, uint64_t index)
{
	return !viewed->is_growing ||
	       origin_ns + ((index + 1) << (shift + TILE_COLUMNS_SHIFT)) <= states_end_ns(viewed->all.states);
}

/* Lanes are called by their places among those with a key. */
bool lane_answers_are_of_others(const struct viewed *viewed, const struct request *request)
{
	char asked[LANES_KEY_BYTES], key[LANES_KEY_BYTES];

	lanes_put_key(viewed->key, key);
	return request_text(request, "of", asked, sizeof(asked)) && strcmp(asked, key) != 0;
}

void lane_answer_tiles(struct viewed *viewed, const struct request *request, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(&viewed->all, 0);
	struct part_choice *choice;
	struct lane_list list;
	int64_t shift, index;

	if (!request_number(request, "shift", TILE_SHIFT_MIN, TILE_SHIFT_MAX, &shift) ||
	    !request_number(request, "index", 0, (INT64_MAX >> (shift + TILE_COLUMNS_SHIFT)) / 2, &index)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "tiles need a shift from %d to %d and an index", TILE_SHIFT_MIN,
			   TILE_SHIFT_MAX);
		return;
	}
	if (!lane_list_read(request, &viewed->lanes, &list)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "tiles need lanes, such as 0-5,9: of %zu, at most %d",
			   viewed->lanes.count, LANES_AT_ONCE_MAX);
		return;
	}
	if (!part_choices_find(viewed->choices, request, reply, &choice))
		return;
	tiles_put(&(struct tile_question){ .states = viewed->all.states,
					   .lanes = &viewed->lanes,
					   .ids = list.ids,
					   .count = list.count,
					   .shift = shift,
					   .index = index,
					   .origin_ns = tile_origin_ns(first_ns),
					   .choice = choice,
					   .pause = &viewed->pause },
		  &reply->body);
	part_choices_release(viewed->choices, choice);
	reply->type = "application/octet-stream";
	reply->is_constant = is_complete(viewed, tile_origin_ns(first_ns), shift, index);
}

/* The thread that a request names: by its number, or else by its lane, which may be another one's when the trace has grown. */
static bool find_thread(const struct viewed *viewed, const struct request *request, uint32_t *thread)
{
	const struct lanes *lanes = &viewed->lanes;
	int64_t lane, number;

	if (request_number(request, "thread", 1, UINT32_MAX, &number)) {
		*thread = number;
		return threads_find(viewed->all.threads, number);
	}
	if (!request_number(request, "lane", 0, (int64_t)lanes->count - 1, &lane) ||
	    lanes->list[lane].kind != LANE_THREAD)
		return false;
	*thread = lanes->threads[lanes->list[lane].first_thread].number;
	return true;
}

void lane_answer_slice(struct viewed *viewed, const struct request *request, struct reply *reply)
{
	uint32_t thread;
	int64_t since_ns;

	if (!find_thread(viewed, request, &thread) || !request_number(request, "time", INT64_MIN, INT64_MAX, &since_ns))
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "a slice needs the lane of a thread, and a time in ns since the first event");
	else if (state_put_json(&reply->body, &viewed->all, &viewed->lanes, viewed->labels, thread,
				trace_states_time(&viewed->all, 0) + since_ns))
		reply_fail(reply, STATUS_NOT_FOUND, "the thread did not live then");
}

void lane_answer_alike(struct viewed *viewed, const struct request *request, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(&viewed->all, 0);
	struct alike_question question = { .budget_ns = alike_budget_ns };
	int64_t since_ns, from_ns, to_ns;

	if (!find_thread(viewed, request, &question.thread) ||
	    !request_number(request, "time", INT64_MIN, INT64_MAX, &since_ns) ||
	    !request_number(request, "from", INT64_MIN, INT64_MAX, &from_ns) ||
	    !request_number(request, "to", from_ns, INT64_MAX, &to_ns)) {
		reply_fail(reply, STATUS_BAD_REQUEST,
			   "waits that are alike need the lane of a thread, a time, from and to");
		return;
	}
	question.time_ns = first_ns + since_ns;
	question.from_ns = first_ns + from_ns;
	question.to_ns = first_ns + to_ns;
	if (alike_put_json(&reply->body, &viewed->all, &viewed->lanes, viewed->labels, &question))
		reply_fail(reply, STATUS_NOT_FOUND, "the thread did not wait then");
}

/* A range of time, CLOCK_MONOTONIC, and lanes. */
struct lane_stretch {
	uint64_t from_ns, to_ns;
	struct lane_list list;
};

/* From the parameters from, to and lanes. False: the reply says that what is asked for needs them. */
static bool read_stretch(const struct viewed *viewed, const struct request *request, const char *what,
			 struct lane_stretch *out, struct reply *reply)
{
	uint64_t first_ns = trace_states_time(&viewed->all, 0);
	int64_t from_ns, to_ns;

	if (!request_number(request, "from", INT64_MIN, INT64_MAX, &from_ns) ||
	    !request_number(request, "to", from_ns, INT64_MAX, &to_ns) ||
	    !lane_list_read(request, &viewed->lanes, &out->list)) {
		reply_fail(reply, STATUS_BAD_REQUEST, "%s need a range of time, from and to, and lanes, such as 0-5,9",
			   what);
		return false;
	}
	out->from_ns = first_ns + from_ns;
	out->to_ns = first_ns + to_ns;
	return true;
}

static void put_marks(struct viewed *viewed, const struct request *request, const struct mark_choice *choice,
		      struct reply *reply)
{
	struct lane_stretch asked;

	if (read_stretch(viewed, request, "marks", &asked, reply))
		lane_marks_put_json(viewed->marks,
				    &(struct mark_question){
					    .lanes = asked.list.ids,
					    .lane_count = asked.list.count,
					    .from_ns = asked.from_ns,
					    .to_ns = asked.to_ns,
					    .first_ns = trace_states_time(&viewed->all, 0),
					    .choice = choice,
				    },
				    &reply->body);
}

/* While a script runs, another trace may be shown, and lanes may become others. */
void lane_answer_marks(struct viewed *viewed, const struct request *request, struct reply *reply)
{
	struct script_marks chosen;

	if (script_marks_choose(viewed->events, request, reply, &chosen)) {
		if (lane_answers_are_of_others(viewed, request))
			reply->status = STATUS_NO_CONTENT;
		else
			put_marks(viewed, request, chosen.choice, reply);
	}
	script_marks_fini(&chosen);
}

void lane_answer_stretch(struct viewed *viewed, const struct request *request, struct reply *reply)
{
	struct part_choice *choice;
	struct lane_stretch asked;

	if (read_stretch(viewed, request, "sums of states", &asked, reply) &&
	    part_choices_find(viewed->choices, request, reply, &choice)) {
		stretch_put_json(&reply->body, &(struct stretch_question){
						       .all = &viewed->all,
						       .lanes = &viewed->lanes,
						       .ids = asked.list.ids,
						       .count = asked.list.count,
						       .from_ns = asked.from_ns,
						       .to_ns = asked.to_ns,
						       .choice = choice,
						       .pause = &viewed->pause,
					       });
		part_choices_release(viewed->choices, choice);
	}
}
