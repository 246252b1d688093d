/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random schedules, and what they must add up to, computed from the truth in another way:
 * a list of intervals for each thread, and over each stretch between two neighbouring
 * times a count of the threads whose interval covers it. No state machine, no running sums.
 */
#include "test.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "account/criticality.h"
#include "session/session.h"
#include "session/threads.h"
#include "values.h"

enum {
	SEEDS = 6000,
	LOSSY_SEEDS = 3000,
	THREADS_MAX = 41,
	MODEL_CPUS_MAX = 4,
	STEPS_MAX = 400,
	INTERVALS_MAX = 4 * STEPS_MAX,
	SIDE_STREAM = MODEL_CPUS_MAX,
};

/* The first two are active. */
enum kind { ON_CPU, RUN_QUEUE, SPINS, SPUN, ASLEEP, KINDS };

/* Samples at this address say that a thread spins. */
enum { SPIN_IP = 0x500000 };

struct interval {
	uint32_t thread;
	enum kind kind;
	uint64_t begin_ns, end_ns;
	uint32_t slice; /* unique, of what is on a CPU */
};

struct truth {
	uint8_t phase; /* UNKNOWN: not born yet */
	bool is_spinning;
	uint32_t slice;
	uint32_t cpu;
	uint64_t since_ns;
	uint64_t born_ns, dead_ns; /* UINT64_MAX: it lives */
	uint64_t touched_ns;       /* the last time at which something happened to it, */
	int touched_count;         /* and how much */
	bool is_preempted_now;     /* switched out at touched_ns, still wanting to run */
};

static struct {
	uint32_t seed, random;
	uint32_t thread_count, cpu_count, nmin, slice_count;
	bool has_spins;
	uint64_t now_ns;
	unsigned int loss_percent;
	struct session *session;
	struct threads *threads;
	struct criticality *criticality;
	struct truth truth[THREADS_MAX];
	uint32_t running[MODEL_CPUS_MAX];
	struct interval intervals[INTERVALS_MAX];
	size_t interval_count;
	uint64_t times[INTERVALS_MAX * 2 + 2 * THREADS_MAX];
	size_t time_count;
} w;

#define CHECK_SEED(condition)                                        \
	do {                                                         \
		if (!(condition))                                    \
			fail_msg("seed %u: %s", w.seed, #condition); \
	} while (0)

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

static bool is_active(uint8_t phase)
{
	return phase == PHASE_RUNNABLE || phase == PHASE_RUNNING;
}

static bool is_alive(uint8_t phase)
{
	return phase == PHASE_BLOCKED || is_active(phase);
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

static void push(unsigned int stream, const void *event, size_t size_bytes)
{
	if (w.loss_percent && pick(100) < w.loss_percent)
		return;
	CHECK_SEED(session_push(w.session, stream, event, size_bytes) == 0);
}

static enum kind kind_of(const struct truth *t)
{
	if (t->phase == PHASE_RUNNING)
		return t->is_spinning ? SPINS : ON_CPU;
	if (t->phase == PHASE_RUNNABLE)
		return t->is_spinning ? SPUN : RUN_QUEUE;
	return ASLEEP;
}

/* The truth: what the thread was doing ends here. */
static void close_interval(uint32_t i, uint64_t end_ns)
{
	struct truth *t = &w.truth[i];

	if (!is_alive(t->phase))
		return;
	CHECK_SEED(w.interval_count < INTERVALS_MAX);
	w.intervals[w.interval_count++] = (struct interval){
		.thread = i,
		.begin_ns = t->since_ns,
		.end_ns = end_ns,
		.kind = kind_of(t),
		.slice = t->slice,
	};
}

static void become(uint32_t i, uint8_t phase)
{
	struct truth *t = &w.truth[i];

	close_interval(i, w.now_ns);
	if (t->phase == PHASE_UNKNOWN)
		t->born_ns = w.now_ns;
	if (phase == PHASE_DEAD)
		t->dead_ns = w.now_ns;
	if (t->touched_ns != w.now_ns)
		t->touched_count = 0;
	t->touched_ns = w.now_ns;
	t->touched_count++;
	t->is_preempted_now = t->phase == PHASE_RUNNING && phase == PHASE_RUNNABLE;
	if (t->phase != PHASE_RUNNING && phase == PHASE_RUNNING)
		t->slice = ++w.slice_count;
	t->is_spinning &= is_active(phase);
	t->phase = phase;
	t->since_ns = w.now_ns;
}

/*
 * No thread does three things, or leaves one CPU and enters another, within a nanosecond;
 * two CPUs whose records tie may show what it does in either order.
 */
static bool is_free(uint32_t i)
{
	const struct truth *t = &w.truth[i];

	return t->touched_ns != w.now_ns || t->touched_count < 2;
}

/* A random thread in this phase that may do something now; 0: none. */
static uint32_t pick_thread(uint8_t phase)
{
	uint32_t start = pick(w.thread_count);

	for (uint32_t k = 0; k < w.thread_count; k++) {
		uint32_t i = 1 + (start + k) % w.thread_count;
		const struct truth *t = &w.truth[i];

		if (t->phase == phase && is_free(i) &&
		    !(phase == PHASE_RUNNABLE && t->is_preempted_now && t->touched_ns == w.now_ns))
			return i;
	}
	return 0;
}

static void birth(void)
{
	uint32_t i = pick_thread(PHASE_UNKNOWN);
	struct ev_thread_born e = { .header = header_of(EV_THREAD_BORN, i), .tid = i, .pid = 1 };

	if (!i)
		return;
	become(i, PHASE_RUNNABLE);
	push(pick(w.cpu_count), &e, sizeof(e));
}

static void wake(void)
{
	uint32_t i = pick_thread(PHASE_BLOCKED);
	struct ev_sched_wake e = { .header = header_of(EV_SCHED_WAKE, i) };

	if (!i)
		return;
	become(i, PHASE_RUNNABLE);
	push(pick(w.cpu_count), &e, sizeof(e));
}

static void change(uint32_t cpu)
{
	uint32_t prev = w.running[cpu], next = pick(5) ? pick_thread(PHASE_RUNNABLE) : 0;
	struct ev_sched_switch e = {
		.header = header_of(EV_SCHED_SWITCH, prev),
		.next = next,
		.cpu = cpu,
		.state = pick(10) ? pick(4) : SWITCH_DEAD,
	};

	if ((!prev && !next) || (prev && !is_free(prev)))
		return;
	if (prev)
		become(prev, e.state == SWITCH_DEAD       ? PHASE_DEAD
			     : e.state == SWITCH_RUNNABLE ? PHASE_RUNNABLE
							  : PHASE_BLOCKED);
	if (next) {
		become(next, PHASE_RUNNING);
		w.truth[next].cpu = cpu;
	}
	w.running[cpu] = next;
	if (pick(2)) {
		e.flags = SWITCH_HAS_STACK;
		e.stack = pick(5);
		e.keep = pick(2) ? 0 : 1u << 31;
	}
	push(cpu, &e, sizeof(e));
}

/* A look at a CPU. */
static void look(uint32_t cpu)
{
	uint32_t i = w.running[cpu];
	struct ev_sched_sample e = {
		.header = header_of(EV_SCHED_SAMPLE, i),
		.ip = pick(2) ? SPIN_IP : 0x400000,
	};

	if (!i || !is_free(i))
		return;
	become(i, PHASE_RUNNING);
	w.truth[i].is_spinning = w.has_spins && e.ip == SPIN_IP;
	push(cpu, &e, sizeof(e));
}

static void push_found(uint32_t i)
{
	struct ev_thread_found e = {
		.header = header_of(EV_THREAD_FOUND, i),
		.tid = i,
		.pid = 1,
		.phase = w.truth[i].phase,
		.cpu = w.truth[i].cpu,
	};

	CHECK_SEED(session_push(w.session, SIDE_STREAM, &e, sizeof(e)) == 0);
}

/* Some threads live already, as many of them run as there are CPUs for. */
static void attach(void)
{
	for (uint32_t i = 1; i <= w.thread_count; i++) {
		uint32_t cpu = pick(w.cpu_count);

		if (pick(3))
			continue;
		if (!w.running[cpu] && pick(2)) {
			become(i, PHASE_RUNNING);
			w.running[cpu] = i;
			w.truth[i].cpu = cpu;
		} else {
			become(i, pick(2) ? PHASE_RUNNABLE : PHASE_BLOCKED);
		}
		push_found(i);
	}
}

static void resync(void)
{
	struct ev_collect_gap gap = { .header = header_of(EV_COLLECT_GAP, 0), .lost = 1 };
	struct ev_header header = header_of(EV_COLLECT_SYNC_BEGIN, 0);

	session_push(w.session, SIDE_STREAM, &gap, sizeof(gap));
	session_push(w.session, SIDE_STREAM, &header, sizeof(header));
	for (uint32_t i = 1; i <= w.thread_count; i++)
		if (is_alive(w.truth[i].phase))
			push_found(i);
	header = header_of(EV_COLLECT_SYNC_END, 0);
	session_push(w.session, SIDE_STREAM, &header, sizeof(header));
}

static uint64_t pick_step_ns(void)
{
	switch (pick(8)) {
	case 0:
	case 1:
		return 0;
	case 2:
		return 1;
	case 3:
		return pick(10);
	case 4:
		return pick(20) ? pick(100000) : (uint64_t)pick(1000000) * 100000;
	default:
		return pick(1000);
	}
}

static bool is_spinning(void *data, const struct thread *thread, uint64_t time_ns, const struct ev_sched_sample *e,
			const struct ev_sched_sample *before)
{
	(void)data;
	(void)thread;
	(void)time_ns;
	(void)before;
	return e->ip == SPIN_IP;
}

static void begin(uint32_t seed, unsigned int loss_percent)
{
	struct criticality_options options = { 0 };

	memset(&w, 0, sizeof(w));
	w.seed = seed;
	w.random = seed * 2654435761u + 1;
	w.loss_percent = loss_percent;
	w.thread_count = 1 + pick(pick(2) ? 6 : THREADS_MAX - 1);
	w.cpu_count = 1 + pick(MODEL_CPUS_MAX);
	w.nmin = pick(3) ? 0 : 1 + pick(4);
	w.now_ns = 1000 + pick(1000);
	for (uint32_t i = 0; i < THREADS_MAX; i++)
		w.truth[i].dead_ns = UINT64_MAX;
	options.nmin = w.nmin;
	w.has_spins = pick(2);
	options.is_spinning = w.has_spins ? is_spinning : NULL;
	/* Folding must not change any sum. */
	options.threads_max = loss_percent && pick(2) ? 2 : 0;
	w.session = session_new(MODEL_CPUS_MAX + 1, 1 << 20);
	w.threads = threads_new(w.session);
	w.criticality = criticality_new(w.session, w.threads, &options);
	if (pick(2))
		attach();
	w.now_ns += 1 + pick(100);
}

static void play(void)
{
	uint32_t steps = 1 + pick(STEPS_MAX);

	for (uint32_t step = 0; step < steps; step++) {
		w.now_ns += pick_step_ns();
		switch (pick(7)) {
		case 0:
			birth();
			break;
		case 1:
		case 2:
			wake();
			break;
		case 3:
			look(pick(w.cpu_count));
			break;
		default:
			change(pick(w.cpu_count));
		}
		if (!pick(20))
			session_advance(w.session, w.now_ns);
		if (w.loss_percent && !pick(100))
			resync();
	}
}

static void end(void)
{
	criticality_free(w.criticality);
	threads_free(w.threads);
	session_free(w.session);
}

/* --- The model ------------------------------------------------------------------------ */

struct model {
	long double cmetric[THREADS_MAX][2];
	uint64_t spent_ns[THREADS_MAX][KINDS];
	uint64_t time_at[THREADS_MAX];
	uint64_t wall_ns, active_ns, stalled_ns, spun_ns;
	uint64_t slices[THREADS_MAX], critical_min[THREADS_MAX], critical_max[THREADS_MAX];
};

static int compare_times(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void collect_times(void)
{
	for (size_t k = 0; k < w.interval_count; k++) {
		w.times[w.time_count++] = w.intervals[k].begin_ns;
		w.times[w.time_count++] = w.intervals[k].end_ns;
	}
	qsort(w.times, w.time_count, sizeof(*w.times), compare_times);
}

/* Threads of this kind (or kinds) at every moment of [begin_ns, end_ns), which holds no change. */
static uint32_t count_between(uint64_t begin_ns, uint64_t end_ns, enum kind last_kind)
{
	uint32_t count = 0;

	for (size_t k = 0; k < w.interval_count; k++)
		count += w.intervals[k].kind <= last_kind && w.intervals[k].begin_ns <= begin_ns &&
			 w.intervals[k].end_ns >= end_ns;
	return count;
}

static void model_stretch(struct model *m, uint64_t begin_ns, uint64_t end_ns)
{
	uint64_t dt_ns = end_ns - begin_ns;
	uint32_t n = count_between(begin_ns, end_ns, RUN_QUEUE);
	uint32_t spinning = count_between(begin_ns, end_ns, SPUN) - n;
	uint32_t alive = count_between(begin_ns, end_ns, ASLEEP);

	if (!alive)
		return;
	m->wall_ns += dt_ns;
	m->time_at[n] += dt_ns;
	if (n)
		m->active_ns += dt_ns;
	else
		m->stalled_ns += dt_ns;
	if (!n && spinning)
		m->spun_ns += dt_ns;
	for (size_t k = 0; k < w.interval_count; k++) {
		const struct interval *v = &w.intervals[k];

		if (v->begin_ns > begin_ns || v->end_ns < end_ns)
			continue;
		m->spent_ns[v->thread][v->kind] += dt_ns;
		if (v->kind <= RUN_QUEUE)
			m->cmetric[v->thread][v->kind] += (long double)dt_ns / n;
	}
}

static bool is_critical(uint64_t integral, uint64_t length_ns, uint32_t alive)
{
	if (w.nmin)
		return integral <= w.nmin * length_ns;
	return alive < 2 ? integral <= length_ns : 2 * integral <= alive * length_ns;
}

/* Thread-time of activity while the part of a slice lasted. */
static uint64_t integral_over(const struct interval *part)
{
	uint64_t integral = 0;

	for (size_t k = 0; k < w.interval_count; k++) {
		const struct interval *v = &w.intervals[k];
		uint64_t begin_ns = v->begin_ns > part->begin_ns ? v->begin_ns : part->begin_ns;
		uint64_t end_ns = v->end_ns < part->end_ns ? v->end_ns : part->end_ns;

		if (v->kind <= RUN_QUEUE && begin_ns < end_ns)
			integral += end_ns - begin_ns;
	}
	return integral;
}

/*
 * A slice by its last part. A birth or another death at the very end of it may be counted in N or not,
 * as the streams happen to be ordered: then both verdicts are right.
 */
static void model_slice(struct model *m, const struct interval *slice)
{
	uint32_t alive_min = 0, alive_max = 0;
	uint64_t integral = 0, length_ns = 0;
	bool few, many, has_spun = false;

	for (size_t k = 0; k < w.interval_count; k++) {
		const struct interval *v = &w.intervals[k];

		if (v->slice != slice->slice || (v->kind != ON_CPU && v->kind != SPINS))
			continue;
		has_spun |= v->kind == SPINS;
		if (v->kind == ON_CPU) {
			length_ns += v->end_ns - v->begin_ns;
			integral += integral_over(v);
		}
	}
	for (uint32_t i = 1; i <= w.thread_count; i++) {
		const struct truth *t = &w.truth[i];

		if (t->phase == PHASE_UNKNOWN)
			continue;
		alive_min += i == slice->thread || (t->born_ns < slice->end_ns && t->dead_ns > slice->end_ns);
		alive_max += t->born_ns <= slice->end_ns && t->dead_ns >= slice->end_ns;
	}
	few = is_critical(integral, length_ns, alive_min);
	many = is_critical(integral, length_ns, alive_max);
	/* One that only spun is none, but if its very end did not. */
	if (has_spun && !length_ns)
		few = false;
	m->slices[slice->thread]++;
	m->critical_min[slice->thread] += few && many;
	m->critical_max[slice->thread] += few || many;
}

/* Of a slice: the intervals of a thread are in the order of time. */
static bool is_last_part(size_t k)
{
	if (w.intervals[k].kind != ON_CPU && w.intervals[k].kind != SPINS)
		return false;
	for (size_t i = k + 1; i < w.interval_count; i++)
		if (w.intervals[i].slice == w.intervals[k].slice &&
		    (w.intervals[i].kind == ON_CPU || w.intervals[i].kind == SPINS))
			return false;
	return true;
}

static void model_all(struct model *m)
{
	memset(m, 0, sizeof(*m));
	collect_times();
	for (size_t i = 1; i < w.time_count; i++)
		if (w.times[i - 1] < w.times[i])
			model_stretch(m, w.times[i - 1], w.times[i]);
	for (size_t k = 0; k < w.interval_count; k++)
		if (is_last_part(k))
			model_slice(m, &w.intervals[k]);
}

static long double ns_of(fixed_ns value)
{
	return (long double)value / 4294967296.0L;
}

static void compare_thread(const struct model *m, const struct thread_metrics *row)
{
	uint32_t i = row->thread->number;

	CHECK_SEED(fabsl(ns_of(row->cmetric_oncpu) - m->cmetric[i][ON_CPU]) < 1e-4);
	CHECK_SEED(fabsl(ns_of(row->cmetric_runqueue) - m->cmetric[i][RUN_QUEUE]) < 1e-4);
	CHECK_SEED(row->running_ns == m->spent_ns[i][ON_CPU] + m->spent_ns[i][SPINS]);
	CHECK_SEED(row->runnable_ns == m->spent_ns[i][RUN_QUEUE] + m->spent_ns[i][SPUN]);
	CHECK_SEED(row->spinning_ns == m->spent_ns[i][SPINS]);
	CHECK_SEED(row->spin_preempted_ns == m->spent_ns[i][SPUN]);
	CHECK_SEED(row->blocked_ns == m->spent_ns[i][ASLEEP]);
	CHECK_SEED(row->slices == m->slices[i]);
	CHECK_SEED(row->critical_slices >= m->critical_min[i]);
	CHECK_SEED(row->critical_slices <= m->critical_max[i]);
	CHECK_SEED(row->is_alive == is_alive(w.truth[i].phase));
}

static void compare(const struct model *m)
{
	struct criticality_totals totals = criticality_totals(w.criticality);
	const struct thread_metrics *row;
	uint64_t rows = 0, born = 0;
	size_t cursor = 0;

	while ((row = criticality_next_thread(w.criticality, &cursor))) {
		compare_thread(m, row);
		rows++;
	}
	for (uint32_t i = 1; i <= w.thread_count; i++)
		born += w.truth[i].phase != PHASE_UNKNOWN;
	CHECK_SEED(rows == born && totals.thread_count == born);
	CHECK_SEED(totals.wall_ns == m->wall_ns);
	CHECK_SEED(totals.active_ns == m->active_ns);
	CHECK_SEED(totals.stalled_ns == m->stalled_ns);
	CHECK_SEED(totals.spun_ns == m->spun_ns);
	CHECK_SEED(totals.cmetric_ns == m->active_ns);
	CHECK_SEED(totals.closure_error_ns == 0);
	for (uint32_t n = 0; n < THREADS_MAX; n++)
		CHECK_SEED(criticality_time_at(w.criticality, n) == m->time_at[n]);
}

TEST(random_schedules_agree_with_the_model)
{
	static struct model model;

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, 0);
		play();
		w.now_ns += pick(1000);
		session_finish(w.session);
		criticality_finish(w.criticality, w.now_ns);
		for (uint32_t i = 1; i <= w.thread_count; i++)
			close_interval(i, w.now_ns);
		model_all(&model);
		compare(&model);
		end();
	}
}

/* With records lost the metrics are what they can be, but the account closes all the same. */
TEST(the_account_closes_whatever_is_lost)
{
	for (uint32_t seed = 1; seed <= LOSSY_SEEDS; seed++) {
		struct criticality_totals totals;

		begin(seed, 1 + seed % 40);
		play();
		session_finish(w.session);
		totals = criticality_totals(w.criticality);
		CHECK_SEED(totals.closure_error_ns == 0);
		CHECK_SEED(totals.active_ns + totals.stalled_ns == totals.wall_ns);
		end();
	}
}

TEST(a_resync_restores_the_truth)
{
	for (uint32_t seed = 1; seed <= LOSSY_SEEDS; seed++) {
		struct criticality_totals totals;
		uint32_t alive = 0, active = 0;

		begin(seed, 1 + seed % 40);
		play();
		w.now_ns++;
		resync();
		session_finish(w.session);
		criticality_finish(w.criticality, w.now_ns + 1000);
		for (uint32_t i = 1; i <= w.thread_count; i++) {
			alive += is_alive(w.truth[i].phase);
			active += is_active(w.truth[i].phase);
		}
		totals = criticality_totals(w.criticality);
		CHECK_SEED(totals.alive_count == alive);
		/* Who spins is known from the next sample only. */
		CHECK_SEED(w.has_spins || criticality_counts(w.criticality).active == active);
		CHECK_SEED(totals.closure_error_ns == 0);
		end();
	}
}
