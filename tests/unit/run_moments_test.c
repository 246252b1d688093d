/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others did when samples met threads, beside what a play of threads at random says of each moment by looking at all of it. */
#include "test.h"

#include <sys/syscall.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "chains/run_moments.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "values.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/waits.h"

enum { THREADS = 6, CPUS = 3, STEPS = 200, PARTS_MAX = STEPS + 1, NEAR_NS = 2000000, STEP_NS_MAX = 900000 };

/* Until the next one begins. */
struct part {
	uint64_t begin_ns;
	uint8_t phase;
	uint32_t waker; /* BLOCKED */
};

struct met {
	uint64_t time_ns, ip;
	uint32_t thread;
};

static struct {
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct files *files;
	struct others *others;
	struct missing_wakeups *missing;
	struct waits *waits;
	struct code_samples *code;
	struct criticality *criticality;
	struct part parts[THREADS + 1][PARTS_MAX];
	size_t part_count[THREADS + 1];
	struct met samples[STEPS];
	size_t sample_count;
	uint32_t running[CPUS]; /* thread; 0: none */
	uint64_t now_ns;
	uint32_t random;
} w;

static uint32_t pick(uint32_t count)
{
	w.random = w.random * 1103515245 + 12345;
	return (w.random >> 8) % count;
}

static struct ev_header header_of(enum event_id id, uint32_t thread)
{
	return (struct ev_header){
		.time_ns = w.now_ns,
		.thread = thread,
		.subsys = id >> 16,
		.event = id & 0xffff,
	};
}

/* --- The play -------------------------------------------------------------------------------------- */

static struct part *now(uint32_t thread)
{
	return &w.parts[thread][w.part_count[thread] - 1];
}

static void begin_part(uint32_t thread, uint8_t phase)
{
	w.parts[thread][w.part_count[thread]++] = (struct part){ .begin_ns = w.now_ns, .phase = phase };
}

static uint32_t pick_in(uint8_t phase)
{
	uint32_t first = pick(THREADS);

	for (uint32_t i = 0; i < THREADS; i++) {
		uint32_t thread = 1 + (first + i) % THREADS;

		if (now(thread)->phase == phase)
			return thread;
	}
	return 0;
}

static void change(uint16_t cpu)
{
	uint32_t before = w.running[cpu], next = pick_in(PHASE_RUNNABLE);
	bool blocks = before && pick(2);
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, before),
		.state = blocks ? SWITCH_SLEEPING : SWITCH_RUNNABLE,
		.syscall = SYS_clock_nanosleep,
		.next = next,
		.cpu = cpu,
	};

	if (!before && !next)
		return;
	CHECK(!session_push(w.session, 0, &e, sizeof(e)));
	if (before)
		begin_part(before, blocks ? PHASE_BLOCKED : PHASE_RUNNABLE);
	if (next)
		begin_part(next, PHASE_RUNNING);
	w.running[cpu] = next;
}

static void wake(void)
{
	uint32_t thread = pick_in(PHASE_BLOCKED), waker = pick(2) ? pick_in(PHASE_RUNNING) : 0;
	struct ev_sched_wake e = {
		.header = header_of(EV_SCHED_WAKE, thread),
		.waker = waker,
		.context = waker ? WAKE_THREAD : WAKE_HARDIRQ,
		.syscall = SYSCALL_NONE,
	};

	if (!thread)
		return;
	CHECK(!session_push(w.session, 0, &e, sizeof(e)));
	now(thread)->waker = waker;
	begin_part(thread, PHASE_RUNNABLE);
}

static void sample(uint16_t cpu)
{
	uint64_t ip = 0x1000 + 16 * w.running[cpu] + pick(3);
	struct ev_sched_sample e = { .header = header_of(EV_SCHED_SAMPLE, w.running[cpu]), .ip = ip };

	if (!w.running[cpu])
		return;
	CHECK(!session_push(w.session, 0, &e, sizeof(e)));
	w.samples[w.sample_count++] = (struct met){ w.now_ns, ip, w.running[cpu] };
}

static void begin(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.random = seed;
	w.now_ns = 1000;
	w.session = session_new(1, 64 << 20);
	w.threads = threads_new(w.session);
	w.stacks = stacks_new(w.session, 0);
	w.files = files_new(w.session, 0);
	w.others = others_new(w.session);
	w.missing = missing_wakeups_new(w.session);
	w.waits = waits_new(w.files, w.others, w.missing);
	w.code = code_samples_new();
	w.criticality =
		criticality_new(w.session, w.threads,
				&(struct criticality_options){ .stacks = w.stacks, .waits = w.waits, .code = w.code });
	for (uint32_t thread = 1; thread <= THREADS; thread++) {
		struct ev_thread_born e = { .header = header_of(EV_THREAD_BORN, thread), .tid = thread, .pid = 1 };

		CHECK(!session_push(w.session, 0, &e, sizeof(e)));
		begin_part(thread, PHASE_RUNNABLE);
	}
}

static void end(void)
{
	criticality_free(w.criticality);
	code_samples_free(w.code);
	waits_free(w.waits);
	others_free(w.others);
	missing_wakeups_free(w.missing);
	files_free(w.files);
	stacks_free(w.stacks);
	threads_free(w.threads);
	session_free(w.session);
}

static void play(void)
{
	for (size_t i = 0; i < STEPS; i++) {
		w.now_ns += 1 + pick(STEP_NS_MAX);
		switch (pick(4)) {
		case 0:
			change(pick(CPUS));
			break;
		case 1:
			wake();
			break;
		default:
			sample(pick(CPUS));
		}
	}
	session_finish(w.session);
}

/* --- What it says of a moment ------------------------------------------------------------------------ */

static const struct part *part_at(uint32_t thread, uint64_t time_ns)
{
	const struct part *part = &w.parts[thread][0];

	for (size_t i = 1; i < w.part_count[thread] && w.parts[thread][i].begin_ns <= time_ns; i++)
		part = &w.parts[thread][i];
	return part;
}

static bool is_last(uint32_t thread, const struct part *part)
{
	return part == &w.parts[thread][w.part_count[thread] - 1];
}

/* 0: none. A part that ends by a sample's time has none after it. */
static uint64_t nearest_ip(uint32_t thread, uint64_t time_ns)
{
	const struct part *part = part_at(thread, time_ns);
	uint64_t end_ns = is_last(thread, part) ? UINT64_MAX : part[1].begin_ns, near_ns = NEAR_NS + 1, ip = 0;

	for (size_t i = 0; i < w.sample_count; i++) {
		const struct met *met = &w.samples[i];
		uint64_t away_ns = met->time_ns > time_ns ? met->time_ns - time_ns : time_ns - met->time_ns;

		if (met->thread != thread || met->time_ns < part->begin_ns || met->time_ns >= end_ns ||
		    away_ns >= near_ns)
			continue;
		near_ns = away_ns;
		ip = met->ip;
	}
	return ip;
}

static uint64_t last_ip(uint32_t thread, uint64_t time_ns)
{
	uint64_t ip = 0;

	for (size_t i = 0; i < w.sample_count; i++)
		if (w.samples[i].thread == thread && w.samples[i].time_ns <= time_ns)
			ip = w.samples[i].ip;
	return ip;
}

static void check_other(const struct run_moment *moment, const struct moment_other *other)
{
	const struct part *part = part_at(other->thread, moment->time_ns);
	uint64_t ip = other->code ? other->code->ip : 0;

	CHECK(other->thread != moment->thread);
	CHECK_EQUAL(other->phase, part->phase);
	if (other->phase == PHASE_RUNNING)
		CHECK_EQUAL(ip, nearest_ip(other->thread, moment->time_ns));
	else if (other->phase == PHASE_RUNNABLE)
		CHECK_EQUAL(ip, last_ip(other->thread, moment->time_ns));
	else
		CHECK_EQUAL(other->wait->is_over, !is_last(other->thread, part));
	if (other->phase == PHASE_BLOCKED && other->wait->is_over)
		CHECK_EQUAL(other->wait->waker, part->waker);
}

static void check_moment(const struct run_moment *moment, const struct met *met)
{
	CHECK_EQUAL(moment->time_ns, met->time_ns);
	CHECK_EQUAL(moment->thread, met->thread);
	CHECK_EQUAL(moment->code->ip, met->ip);
	CHECK_EQUAL(moment->other_count, THREADS - 1);
	for (size_t i = 0; i < moment->other_count; i++) {
		for (size_t k = 0; k < i; k++)
			CHECK(moment->others[i].thread != moment->others[k].thread);
		check_other(moment, &moment->others[i]);
	}
}

/* Code spins, or a wait holds others up, as the play says. */
static bool spins(void *data, const struct code_sample *code)
{
	(void)data;
	return code->ip % 16 == 0;
}

static bool holds_up(void *data, const struct moment_wait *wait)
{
	(void)data;
	return wait->is_over && !wait->waker;
}

static bool is_member(void *data, uint32_t thread)
{
	(void)data;
	return thread % 2;
}

/* Ways to be late, in their order. */
enum way { MEMBER_AWAKE, OTHER_AWAKE, MEMBER_ASLEEP, OTHER_ASLEEP, NOT_LATE };

static enum way way_of(uint32_t thread, uint64_t time_ns)
{
	const struct part *part = part_at(thread, time_ns);
	uint64_t ip = part->phase == PHASE_RUNNING ? nearest_ip(thread, time_ns) : last_ip(thread, time_ns);

	if (part->phase == PHASE_BLOCKED)
		return is_last(thread, part) || part->waker ? NOT_LATE : thread % 2 ? MEMBER_ASLEEP : OTHER_ASLEEP;
	return ip % 16 == 0 ? NOT_LATE : thread % 2 ? MEMBER_AWAKE : OTHER_AWAKE;
}

/* The first one that somebody is late in; NOT_LATE: nobody is, or it is not known. */
static enum way first_way(const struct met *met)
{
	enum way first = NOT_LATE;
	bool is_unknown = false;

	for (uint32_t thread = 1; thread <= THREADS; thread++) {
		enum way way = way_of(thread, met->time_ns);

		if (thread == met->thread)
			continue;
		first = way < first ? way : first;
		is_unknown |=
			part_at(thread, met->time_ns)->phase == PHASE_RUNNING && !nearest_ip(thread, met->time_ns);
	}
	return is_unknown && first != MEMBER_AWAKE ? NOT_LATE : first;
}

static void check_late(const struct run_moment *moment, const struct met *met)
{
	const struct moment_other *late[MOMENT_OTHERS_MAX];
	size_t count = run_moment_late(moment, &(struct moment_judge){ spins, holds_up, is_member, NULL }, late),
	       expected = 0;
	enum way way = first_way(met);

	for (uint32_t thread = 1; thread <= THREADS; thread++) {
		bool is_found = false;

		if (thread == met->thread || way == NOT_LATE || way_of(thread, met->time_ns) != way)
			continue;
		for (size_t i = 0; i < count; i++)
			is_found |= late[i]->thread == thread;
		CHECK(is_found);
		expected++;
	}
	CHECK_EQUAL(count, expected);
}

TEST(late_are_those_who_do_something_else_or_wait_for_what_no_thread_ends_and_of_them_those_who_spin_at_times_first)
{
	for (uint32_t seed = 1; seed <= 2000; seed++) {
		begin(seed);
		play();
		for (size_t i = 0; i < w.sample_count; i++)
			check_late(run_moments_at(criticality_moments(w.criticality), i), &w.samples[i]);
		end();
	}
}

TEST(each_moment_has_what_all_others_did_then)
{
	for (uint32_t seed = 1; seed <= 500; seed++) {
		const struct run_moments *moments;

		begin(seed);
		play();
		moments = criticality_moments(w.criticality);
		CHECK_EQUAL(run_moments_count(moments), w.sample_count);
		for (size_t i = 0; i < w.sample_count; i++)
			check_moment(run_moments_at(moments, i), &w.samples[i]);
		CHECK(!run_moments_at(moments, w.sample_count));
		end();
	}
}

TEST(of_many_moments_each_is_kept_with_the_same_chance)
{
	enum { COUNT = 64 * MOMENTS_MAX, BINS = 16 };
	struct run_moments *moments = run_moments_new();
	const struct run_moment *moment;
	size_t bins[BINS] = { 0 };

	for (size_t i = 0; i < COUNT; i++)
		run_moments_add(moments, &(struct run_moment){ .time_ns = i, .near_ns = 10 });
	CHECK_EQUAL(run_moments_count(moments), COUNT);
	CHECK(!run_moments_at(moments, MOMENTS_MAX));
	for (size_t i = 0; (moment = run_moments_at(moments, i)); i++)
		bins[moment->time_ns / (COUNT / BINS)]++;
	/* 256 in each, on average: this is five standard deviations. */
	for (size_t i = 0; i < BINS; i++)
		CHECK(bins[i] > 256 - 5 * 16 && bins[i] < 256 + 5 * 16);
	run_moments_free(moments);
}

TEST(beyond_the_bound_who_runs_comes_before_who_does_not)
{
	struct run_moments *moments = run_moments_new();
	struct run_moment *moment = run_moments_add(moments, &(struct run_moment){ .time_ns = 1 });
	size_t running = 0;

	for (uint32_t i = 1; i <= MOMENT_OTHERS_MAX; i++)
		run_moment_add_other(moment, &(struct moment_other){ .thread = i, .phase = PHASE_RUNNABLE });
	for (uint32_t i = 1; i <= 2 * MOMENT_OTHERS_MAX; i++)
		run_moment_add_other(moment, &(struct moment_other){ .thread = 1000 + i, .phase = PHASE_RUNNING });
	for (size_t i = 0; i < moment->other_count; i++)
		running += moment->others[i].phase == PHASE_RUNNING;
	CHECK_EQUAL(moment->other_count, MOMENT_OTHERS_MAX);
	CHECK_EQUAL(running, MOMENT_OTHERS_MAX);
	run_moments_free(moments);
}
