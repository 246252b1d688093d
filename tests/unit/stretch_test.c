/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How lanes spent a stretch of time: of very many threads, which are gone through together, what each of them says alone adds up to. */
#include "test.h"

#include <jansson.h>
#include <string.h>

#include "base/text.h"
#include "lanes/lanes.h"
#include "lanes/stretch_json.h"
#include "query/trace_states.h"
#include "session/session.h"
#include "session/threads.h"
#include "state_stage.h"
#include "states/state_log.h"
#include "states/states.h"
#include "values.h"

enum { THREADS = 700, CHANGES = 60000, STRETCHES = 12, GAP_ONE_IN = 9000, STEP_NS = 5000 };

static const uint64_t begin_ns = 1ull << 40;

static struct {
	struct state_stage stage;
	bool waits[THREADS];
	uint64_t now_ns, random;
	struct lane list[THREADS + 1]; /* the last one has all threads */
	struct lane_thread threads[THREADS];
	struct trace_states all;
	struct lanes lanes;
} w;

static uint64_t pick(uint64_t below)
{
	w.random = w.random * 6364136223846793005ull + 1442695040888963407ull;
	return (w.random >> 33) % below;
}

static void tell(uint32_t number, struct state_change change)
{
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = w.now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void change_one(void)
{
	struct ev_sched_switch out = { .state = SWITCH_SLEEPING, .syscall = 35 };
	uint32_t place = pick(THREADS);

	if (w.waits[place])
		tell(place + 1, (struct state_change){ .phase = PHASE_RUNNING, .cpu = place % 4 });
	else
		tell(place + 1, (struct state_change){ .phase = PHASE_BLOCKED, .out = &out });
	w.waits[place] = !w.waits[place];
}

static void lose_records(void)
{
	struct ev_collect_gap e = {
		.header = { .subsys = EV_COLLECT_GAP >> 16, .event = EV_COLLECT_GAP & 0xffff, .time_ns = w.now_ns },
		.lost = 1,
	};

	session_hand_out(w.stage.session, &e.header);
}

static void live(void)
{
	memset(&w, 0, sizeof(w));
	state_stage_open(&w.stage);
	state_log_subscribe(w.stage.log, w.stage.session);
	w.now_ns = begin_ns;
	for (unsigned int i = 0; i < CHANGES; i++) {
		w.now_ns += 1 + pick(2 * STEP_NS);
		if (pick(GAP_ONE_IN))
			change_one();
		else
			lose_records();
	}
	state_stage_finish(&w.stage, w.now_ns);
	w.all.states = w.stage.states;
	w.lanes = (struct lanes){ .list = w.list, .count = THREADS + 1, .threads = w.threads, .thread_count = THREADS };
	for (uint32_t i = 0; i < THREADS; i++) {
		w.threads[i] = (struct lane_thread){ .number = i + 1, .end_ns = UINT64_MAX };
		w.list[i] = (struct lane){ .kind = LANE_THREAD, .first_thread = i, .thread_count = 1 };
	}
	w.list[THREADS] = (struct lane){ .kind = LANE_PROCESS, .thread_count = THREADS };
}

/* Adds how those lanes spent the time. */
static void add(const uint32_t *ids, size_t count, uint64_t from_ns, uint64_t to_ns, uint64_t ns[SHARES])
{
	struct text out = { 0 };
	json_t *answer, *lane;
	size_t i;

	stretch_put_json(&out, &(struct stretch_question){
				       .all = &w.all,
				       .lanes = &w.lanes,
				       .ids = ids,
				       .count = count,
				       .from_ns = from_ns,
				       .to_ns = to_ns,
			       });
	answer = json_loads(out.bytes, 0, NULL);
	CHECK_EQUAL(json_array_size(json_object_get(answer, "lanes")), count);
	json_array_foreach(json_object_get(answer, "lanes"), i, lane) for (unsigned int share = 0; share < SHARES;
									   share++) ns[share] +=
		json_integer_value(json_array_get(json_object_get(lane, "ns"), share));
	json_decref(answer);
	text_fini(&out);
}

TEST(many_threads_together_are_the_sum_of_each)
{
	const uint32_t whole = THREADS;
	uint64_t some_ns = 0;

	live();
	for (unsigned int i = 0; i < STRETCHES; i++) {
		uint64_t from_ns = begin_ns + pick(w.now_ns - begin_ns), to_ns = from_ns + 1 + pick(w.now_ns - from_ns);
		uint64_t each[SHARES] = { 0 }, all[SHARES] = { 0 };

		for (uint32_t id = 0; id < THREADS; id++)
			add(&id, 1, from_ns, to_ns, each);
		add(&whole, 1, from_ns, to_ns, all);
		for (unsigned int share = 0; share < SHARES; share++) {
			CHECK_EQUAL(all[share], each[share]);
			some_ns += all[share];
		}
	}
	CHECK_THAT(some_ns, >, 0);
	state_stage_close(&w.stage);
}
