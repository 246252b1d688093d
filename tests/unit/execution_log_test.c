/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions against a model: random calls of functions, which return, jump out or are left, and random
 * pairs of system calls, of which each beginning knows its own end.
 */
#include "test.h"

#include <string.h>

#include "session/session.h"
#include "spans/execution_log.h"
#include "values.h"

enum { ROUNDS = 2000, STEPS = 200, THREADS = 3, FUNCTION = 0, CALLS = 1, DEPTH_MAX = 12, FDS = 4, EXPECTED_MAX = 4096 };

static struct {
	uint32_t random;
	uint64_t now_ns;
	struct session *session;
	struct execution_log *log;
	struct execution expected[EXPECTED_MAX];
	size_t count;
	uint64_t left, anew, alone, died, unfinished;
	struct frames {
		uint64_t begin_ns[DEPTH_MAX];
		uint32_t depth;
	} frames[THREADS];
	uint64_t opened_ns[THREADS][FDS]; /* 0: not open */
	bool has_gap;
	uint64_t gap_ns;
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

/* What the kernel counts grows as time goes by, each at its own pace. */
enum { TRANSFERS = 1, READ, WRITTEN, FAULTS };

static void emit(enum event_id id, uint32_t thread, uint32_t span, uint64_t value, uint32_t flags)
{
	struct ev_span_end e = {
		.header = { .time_ns = w.now_ns, .thread = thread + 1, .subsys = id >> 16, .event = id & 0xffff },
		.value = value,
		.span = span,
		.flags = flags,
		.transfers = TRANSFERS * w.now_ns,
		.read_bytes = READ * w.now_ns,
		.written_bytes = WRITTEN * w.now_ns,
		.faults = FAULTS * w.now_ns,
	};

	session_hand_out(w.session, &e.header);
}

static void emit_name(uint32_t span, enum span_kind kind)
{
	struct {
		struct ev_span_name e;
		char text[8];
	} name = {
		.e = { .header = { .subsys = EV_SPAN_NAME >> 16, .event = EV_SPAN_NAME & 0xffff },
		       .span = span,
		       .kind = kind,
		       .text_bytes = 8 },
		.text = "abc\0def",
	};

	session_hand_out(w.session, &name.e.header);
}

static void expect(uint32_t thread, uint32_t span, uint64_t begin_ns, uint32_t depth)
{
	uint64_t ns = w.now_ns - begin_ns;

	CHECK_THAT(w.count, <, EXPECTED_MAX);
	w.expected[w.count++] = (struct execution){
		thread + 1, thread + 1,     span,      begin_ns,     w.now_ns,
		depth,      TRANSFERS * ns, READ * ns, WRITTEN * ns, FAULTS * ns,
	};
}

/* A frame further in lies lower. */
static uint64_t place(uint32_t depth)
{
	return 0x7000 - 16 * depth;
}

static void step_function(uint32_t thread)
{
	struct frames *frames = &w.frames[thread];
	uint32_t gone;

	switch (pick(5)) {
	case 0:
	case 1:
		if (frames->depth == DEPTH_MAX)
			break;
		emit(EV_SPAN_BEGIN, thread, FUNCTION, place(frames->depth), 0);
		frames->begin_ns[frames->depth++] = w.now_ns;
		break;
	case 2:
		if (!frames->depth)
			break;
		frames->depth--;
		emit(EV_SPAN_END, thread, FUNCTION, place(frames->depth), pick(2) ? SPAN_JUMPS : 0);
		expect(thread, FUNCTION, frames->begin_ns[frames->depth], frames->depth);
		break;
	case 3:
		/* An exception leaves some, and then either one further out returns or another is called. */
		gone = frames->depth ? 1 + pick(frames->depth) : 0;
		if (!gone)
			break;
		frames->depth -= gone;
		w.left += gone;
		if (frames->depth && pick(2)) {
			frames->depth--;
			emit(EV_SPAN_END, thread, FUNCTION, place(frames->depth), 0);
			expect(thread, FUNCTION, frames->begin_ns[frames->depth], frames->depth);
		} else {
			emit(EV_SPAN_BEGIN, thread, FUNCTION, place(frames->depth), 0);
			frames->begin_ns[frames->depth++] = w.now_ns;
		}
		break;
	default:
		/* A jump in the midst of the innermost one, whose frame is there. */
		if (frames->depth)
			emit(EV_SPAN_END, thread, FUNCTION, place(frames->depth) + 8, SPAN_JUMPS);
		else
			w.alone++, emit(EV_SPAN_END, thread, FUNCTION, place(0), 0);
	}
}

/* How many others are open that were opened before. */
static uint32_t around(uint32_t thread, uint32_t fd)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < FDS; i++)
		count += w.opened_ns[thread][i] && w.opened_ns[thread][i] < w.opened_ns[thread][fd];
	return count;
}

static void step_calls(uint32_t thread)
{
	uint32_t fd = pick(FDS);
	uint64_t *opened_ns = &w.opened_ns[thread][fd];

	if (pick(2)) {
		w.anew += *opened_ns != 0;
		*opened_ns = w.now_ns;
		emit(EV_SPAN_BEGIN, thread, CALLS, fd, 0);
		return;
	}
	emit(EV_SPAN_END, thread, CALLS, fd, 0);
	if (*opened_ns)
		expect(thread, CALLS, *opened_ns, around(thread, fd));
	else
		w.alone++;
	*opened_ns = 0;
}

static bool lives(void *data, uint32_t thread)
{
	(void)data;
	return thread != 1;
}

static void close_all(void)
{
	for (uint32_t thread = 0; thread < THREADS; thread++) {
		uint64_t *count = lives(NULL, thread + 1) ? &w.unfinished : &w.died;

		*count += w.frames[thread].depth;
		for (uint32_t fd = 0; fd < FDS; fd++)
			*count += w.opened_ns[thread][fd] != 0;
	}
}

static int by_begin(const void *a, const void *b)
{
	const struct execution *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* All but the bytes that no member has. */
static bool is_same(const struct execution *a, const struct execution *b)
{
	return !memcmp(a, b, offsetof(struct execution, depth)) && a->depth == b->depth &&
	       !memcmp(&a->transfers, &b->transfers, sizeof(*a) - offsetof(struct execution, transfers));
}

static void check_all(void)
{
	const struct executions *all = execution_log_all(w.log);
	const struct span *function = execution_log_span(w.log, FUNCTION);
	const struct span *calls = execution_log_span(w.log, CALLS);

	qsort(w.expected, w.count, sizeof(*w.expected), by_begin);
	CHECK_EQUAL(all->count, w.count);
	for (size_t i = 0; i < w.count; i++) {
		bool has_gap = w.has_gap && w.expected[i].begin_ns <= w.gap_ns && w.gap_ns <= w.expected[i].end_ns;

		CHECK(is_same(&all->list[i], &w.expected[i]));
		CHECK_EQUAL(execution_log_has_gap(w.log, &all->list[i]), has_gap);
	}
	CHECK(function && calls && !execution_log_span(w.log, 2));
	CHECK_STRING(function->name, "abc");
	CHECK_STRING(function->spec, "def");
	CHECK_EQUAL(function->count + calls->count, w.count);
	CHECK(!calls->left && !function->begun_anew);
	CHECK_EQUAL(function->left, w.left);
	CHECK_EQUAL(calls->begun_anew, w.anew);
	CHECK_EQUAL(function->ends_alone + calls->ends_alone, w.alone);
	CHECK_EQUAL(function->died + calls->died, w.died);
	CHECK_EQUAL(function->unfinished + calls->unfinished, w.unfinished);
}

static void open_world(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.random = seed;
	w.session = session_new(1, 1 << 20);
	w.log = execution_log_new(w.session);
	emit_name(FUNCTION, SPAN_OF_FUNCTION);
	emit_name(CALLS, SPAN_OF_CALLS);
}

static void close_world(void)
{
	execution_log_free(w.log);
	session_free(w.session);
}

static void one_round(uint32_t seed)
{
	open_world(seed);
	for (unsigned int step = 0; step < STEPS; step++) {
		uint32_t thread = pick(THREADS);

		w.now_ns += 1 + pick(100);
		if (step == STEPS / 2 && pick(2)) {
			struct ev_collect_gap gap = {
				.header = { .time_ns = w.now_ns,
					    .subsys = EV_COLLECT_GAP >> 16,
					    .event = EV_COLLECT_GAP & 0xffff },
			};

			w.has_gap = true;
			w.gap_ns = w.now_ns;
			session_hand_out(w.session, &gap.header);
		} else if (pick(2)) {
			step_function(thread);
		} else {
			step_calls(thread);
		}
	}
	close_all();
	execution_log_finish(w.log, lives, NULL);
	check_all();
	close_world();
}

TEST(random_tasks_are_those_of_the_model)
{
	for (uint32_t seed = 1; seed <= ROUNDS; seed++)
		one_round(seed);
}

TEST(an_exec_leaves_all_functions_of_a_thread)
{
	struct ev_thread_exec exec = {
		.header = { .thread = 2, .subsys = EV_THREAD_EXEC >> 16, .event = EV_THREAD_EXEC & 0xffff },
	};

	open_world(1);
	emit(EV_SPAN_BEGIN, 1, FUNCTION, place(0), 0);
	emit(EV_SPAN_BEGIN, 1, FUNCTION, place(1), 0);
	emit(EV_SPAN_BEGIN, 1, CALLS, 3, 0);
	session_hand_out(w.session, &exec.header);
	emit(EV_SPAN_END, 1, CALLS, 3, 0);
	execution_log_finish(w.log, lives, NULL);
	CHECK_EQUAL(execution_log_span(w.log, FUNCTION)->left, 2);
	CHECK_EQUAL(execution_log_all(w.log)->count, 1);
	CHECK_EQUAL(execution_log_span(w.log, CALLS)->count, 1);
	close_world();
}

TEST(hostile_events_stay_within_bounds)
{
	open_world(1);
	emit(EV_SPAN_BEGIN, 1, UINT32_MAX, 0, 0);
	emit(EV_SPAN_END, 1, SPANS_MAX, 0, 0);
	emit_name(SPANS_MAX, SPAN_OF_CALLS);
	for (unsigned int i = 0; i < 10000; i++)
		emit(EV_SPAN_BEGIN, 1, CALLS, i, 0);
	CHECK_EQUAL(execution_log_span(w.log, CALLS)->dropped, 10000 - 4096);
	w.now_ns = 5;
	emit(EV_SPAN_BEGIN, 2, CALLS, 1, 0);
	w.now_ns = 3; /* a clock that goes back */
	emit(EV_SPAN_END, 2, CALLS, 1, 0);
	execution_log_finish(w.log, lives, NULL);
	CHECK_EQUAL(execution_log_all(w.log)->count, 1);
	CHECK_EQUAL(execution_log_all(w.log)->list[0].begin_ns, execution_log_all(w.log)->list[0].end_ns);
	close_world();
}
