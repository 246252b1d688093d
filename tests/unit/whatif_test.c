/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is predicted against what is so: random programs of threads that work, sleep, take locks and let each
 * other go, run on some CPUs, and run again with what was predicted.
 */
#include "test.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "session/session.h"
#include "session/threads.h"
#include "state_stage.h"
#include "states/states.h"
#include "values.h"
#include "whatif/lives.h"
#include "whatif/run_code.h"
#include "whatif/whatif.h"

enum { THREADS = 6, OPERATIONS = 160, GATES = THREADS * THREADS, TURN_NS = 4000000 };
enum {
	BEGIN_NS = 1000000,
	LOCK_OBJECT = 0x1000,
	GATE_OBJECT = 0x2000,
	SAMPLE_NS = 20000,
	HOT_IP = 1,
	COLD_IP = 2,
	KERNEL_IP = 3
};

/* What a thread does, one after the other. */
struct operation {
	enum { WORK, HOLD, SLEEP, LOCK, UNLOCK, OPEN, PASS } kind; /* HOLD: work with the lock */
	uint64_t ns;
	unsigned int gate; /* OPEN lets one PASS */
	bool is_hot;       /* WORK: of the code that is changed */
};

struct program {
	struct operation operations[THREADS][OPERATIONS];
	unsigned int counts[THREADS], thread_count;
	bool has_lock;
	uint64_t wake_ns, late_ns; /* what it takes to wake another one; how much later that one gets a CPU */
};

/* How it is run. */
struct setting {
	unsigned int cpus;
	double hold_scale, sleep_scale;
	double cooled;    /* the part of hot work that is not done */
	bool is_recorded; /* to the log of states */
};

static struct {
	uint32_t seed, random;
	struct program program;
	struct state_stage stage;
	struct lives lives;
	struct run_code code;
	struct whatif whatif;
	/* Which operations made their thread wait when it was recorded. */
	bool has_waited[THREADS][OPERATIONS];
	unsigned int sleeps; /* in the last run: waits that others ended */
} w;

static uint32_t pick(uint32_t below)
{
	w.random = w.random * 1664525 + 1013904223;
	return (uint64_t)w.random * below >> 32;
}

/* --- Running a program -------------------------------------------------------------------------- */

struct run {
	const struct setting *setting;
	uint64_t now_ns;
	struct actor {
		unsigned int at;
		enum { READY, ON_CPU, ASLEEP, WAITING, OVER } doing;
		uint64_t left_ns, turn_ns, wakes_ns, order;
		unsigned int cpu;
		bool is_in_work, is_waking; /* waking: it works for another one to run */
	} actors[THREADS];
	uint64_t orders;
	bool has_cpu[THREADS];
	unsigned int opened[GATES];
	unsigned int holder; /* plus 1 */
	bool waits_anew;     /* somebody had to wait where nobody had when it was reported */
	unsigned int sleeps;
};

static void emit(const struct run *run, unsigned int actor, struct state_change change)
{
	if (!run->setting->is_recorded)
		return;
	change.thread = threads_get(w.stage.threads, actor + 1);
	change.time_ns = BEGIN_NS + run->now_ns;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void make_ready(struct run *run, unsigned int actor, const struct ev_sched_wake *wake)
{
	run->actors[actor].doing = READY;
	run->actors[actor].order = ++run->orders;
	emit(run, actor, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = wake });
}

static void wake_by(struct run *run, unsigned int actor, unsigned int waker)
{
	run->sleeps++;
	run->actors[actor].wakes_ns = run->now_ns + w.program.late_ns;
	make_ready(run, actor,
		   &(struct ev_sched_wake){
			   .waker = waker + 1,
			   .tid = 100 + waker,
			   .context = WAKE_THREAD,
			   .syscall = SYS_futex,
		   });
}

static void block(struct run *run, unsigned int actor, const struct operation *operation)
{
	struct ev_sched_switch e = { .state = SWITCH_SLEEPING, .syscall = SYS_futex };

	run->has_cpu[run->actors[actor].cpu] = false;
	run->actors[actor].doing = operation->kind == SLEEP ? ASLEEP : WAITING;
	if (operation->kind == SLEEP) {
		e.syscall = SYS_nanosleep;
	} else if (operation->kind == LOCK) {
		e.object = LOCK_OBJECT;
		e.operation = FUTEX_WAIT | FUTEX_PRIVATE_FLAG;
	} else {
		e.object = GATE_OBJECT + 8 * operation->gate;
		e.operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG;
	}
	if (run->setting->is_recorded)
		w.has_waited[actor][run->actors[actor].at] = true;
	else if (operation->kind != SLEEP && !w.has_waited[actor][run->actors[actor].at])
		run->waits_anew = true;
	emit(run, actor, (struct state_change){ .phase = PHASE_BLOCKED, .out = &e });
}

/* kind: LOCK or PASS. */
static unsigned int first_waiter(const struct run *run, int kind, unsigned int gate)
{
	unsigned int first = THREADS;

	for (unsigned int i = 0; i < w.program.thread_count; i++) {
		const struct operation *o = &w.program.operations[i][run->actors[i].at];

		if (run->actors[i].doing == WAITING && (int)o->kind == kind && o->gate == gate &&
		    (first == THREADS || run->actors[i].order < run->actors[first].order))
			first = i;
	}
	return first;
}

/* Whether it has to wake another one. */
static bool let_go(struct run *run, unsigned int actor, const struct operation *operation)
{
	bool is_lock = operation->kind == UNLOCK;
	unsigned int waiter = first_waiter(run, is_lock ? LOCK : PASS, operation->gate);

	if (is_lock)
		run->holder = waiter < THREADS ? waiter + 1 : 0;
	else if (waiter == THREADS)
		run->opened[operation->gate]++;
	if (waiter == THREADS)
		return false;
	run->actors[waiter].at++;
	wake_by(run, waiter, actor);
	return true;
}

/* Whether it goes on at once. */
static bool take(struct run *run, unsigned int actor, const struct operation *operation)
{
	if (operation->kind == LOCK && !run->holder) {
		run->holder = actor + 1;
		return true;
	}
	if (operation->kind == PASS && run->opened[operation->gate]) {
		run->opened[operation->gate]--;
		return true;
	}
	run->actors[actor].order = ++run->orders;
	block(run, actor, operation);
	return false;
}

/* All that takes no time, of a thread that has a CPU. */
static void act(struct run *run, unsigned int actor)
{
	struct actor *a = &run->actors[actor];

	while (a->doing == ON_CPU && !a->is_in_work && a->at < w.program.counts[actor]) {
		const struct operation *o = &w.program.operations[actor][a->at];

		switch (o->kind) {
		case WORK:
		case HOLD:
			a->left_ns = o->kind == HOLD ? o->ns * run->setting->hold_scale : o->ns;
			if (o->is_hot)
				a->left_ns -= o->ns * run->setting->cooled;
			a->is_in_work = true;
			return;
		case SLEEP:
			a->wakes_ns = run->now_ns + (uint64_t)(o->ns * run->setting->sleep_scale);
			block(run, actor, o);
			return;
		case LOCK:
		case PASS:
			if (!take(run, actor, o))
				return;
			break;
		case UNLOCK:
		case OPEN:
			if (!let_go(run, actor, o) || !w.program.wake_ns)
				break;
			a->left_ns = w.program.wake_ns;
			a->is_in_work = a->is_waking = true;
			return;
		}
		a->at++;
	}
	if (a->doing == ON_CPU && !a->is_in_work) {
		a->doing = OVER;
		run->has_cpu[a->cpu] = false;
		emit(run, actor, (struct state_change){ .phase = PHASE_DEAD });
	}
}

static bool is_ready(const struct run *run, unsigned int actor)
{
	return run->actors[actor].doing == READY && run->actors[actor].wakes_ns <= run->now_ns;
}

static void fill_cpu(struct run *run, unsigned int cpu)
{
	unsigned int first = THREADS;

	for (unsigned int i = 0; i < w.program.thread_count; i++)
		if (is_ready(run, i) && (first == THREADS || run->actors[i].order < run->actors[first].order))
			first = i;
	if (first == THREADS)
		return;
	run->actors[first].doing = ON_CPU;
	run->actors[first].cpu = cpu;
	run->actors[first].turn_ns = run->now_ns + TURN_NS;
	run->has_cpu[cpu] = true;
	emit(run, first, (struct state_change){ .phase = PHASE_RUNNING, .cpu = cpu });
	act(run, first);
}

static bool is_any_ready(const struct run *run)
{
	for (unsigned int i = 0; i < w.program.thread_count; i++)
		if (is_ready(run, i))
			return true;
	return false;
}

/* When the thread does something next; UINT64_MAX: not by itself. */
static uint64_t next_of(const struct run *run, const struct actor *a)
{
	uint64_t end_ns = run->now_ns + a->left_ns;

	if (a->doing == ASLEEP || (a->doing == READY && a->wakes_ns > run->now_ns))
		return a->wakes_ns;
	if (a->doing != ON_CPU)
		return UINT64_MAX;
	return a->turn_ns < end_ns ? a->turn_ns : end_ns;
}

static void happen(struct run *run, unsigned int actor)
{
	struct actor *a = &run->actors[actor];

	if (a->doing == ASLEEP) {
		a->at++;
		make_ready(run, actor, &(struct ev_sched_wake){ .context = WAKE_HARDIRQ });
	} else if (a->doing == READY) {
		return; /* from here on it may have a CPU */
	} else if (!a->left_ns) {
		a->is_in_work = a->is_waking = false;
		a->at++;
		act(run, actor);
	} else if (is_any_ready(run)) {
		struct ev_sched_switch e = { .state = SWITCH_RUNNABLE };

		run->has_cpu[a->cpu] = false;
		a->doing = READY;
		a->order = ++run->orders;
		emit(run, actor, (struct state_change){ .phase = PHASE_RUNNABLE, .out = &e });
	} else {
		a->turn_ns = run->now_ns + TURN_NS;
	}
}

/* Up to when the next thing happens. */
static void take_samples(const struct run *run, uint64_t next_ns)
{
	for (uint64_t ns = run->now_ns / SAMPLE_NS * SAMPLE_NS + SAMPLE_NS; ns <= next_ns; ns += SAMPLE_NS)
		for (unsigned int i = 0; i < w.program.thread_count; i++) {
			struct ev_sched_sample e = { .header.time_ns = BEGIN_NS + ns, .header.thread = i + 1 };

			if (run->actors[i].doing != ON_CPU)
				continue;
			e.ip = w.program.operations[i][run->actors[i].at].is_hot ? HOT_IP : COLD_IP;
			e.kernel_ip = run->actors[i].is_waking ? KERNEL_IP : 0;
			run_code_add(&w.code, 1, &e);
		}
}

/* How long the program takes. */
static uint64_t run_program(const struct setting *setting, bool *waits_anew)
{
	struct run run = { .setting = setting };

	for (unsigned int i = 0; i < w.program.thread_count; i++)
		make_ready(&run, i, NULL);
	for (;;) {
		uint64_t next_ns = UINT64_MAX;
		unsigned int next = 0;

		for (unsigned int cpu = 0; cpu < setting->cpus; cpu++)
			while (!run.has_cpu[cpu] && is_any_ready(&run))
				fill_cpu(&run, cpu);
		for (unsigned int i = 0; i < w.program.thread_count; i++)
			if (next_of(&run, &run.actors[i]) < next_ns) {
				next_ns = next_of(&run, &run.actors[i]);
				next = i;
			}
		if (next_ns == UINT64_MAX)
			break;
		if (setting->is_recorded)
			take_samples(&run, next_ns);
		for (unsigned int i = 0; i < w.program.thread_count; i++)
			if (run.actors[i].doing == ON_CPU)
				run.actors[i].left_ns -= next_ns - run.now_ns;
		run.now_ns = next_ns;
		happen(&run, next);
	}
	for (unsigned int i = 0; i < w.program.thread_count; i++)
		CHECK_EQUAL(run.actors[i].doing, OVER);
	*waits_anew = run.waits_anew;
	w.sleeps = run.sleeps;
	return run.now_ns;
}

/* --- Recording it ------------------------------------------------------------------------------- */

static void begin_record(void)
{
	state_stage_open(&w.stage);
	run_code_init(&w.code);
}

static void end_record(uint64_t ns)
{
	uint32_t numbers[THREADS];

	state_stage_finish(&w.stage, BEGIN_NS + ns + 1); /* the trace ends later than its threads */
	for (unsigned int i = 0; i < THREADS; i++)
		numbers[i] = i + 1;
	CHECK_EQUAL(lives_of(w.stage.states, w.stage.threads, numbers, THREADS, &w.lives), 0);
	run_code_sort(&w.code);
	whatif_init(&w.whatif, &w.lives, &w.code);
}

static void record(unsigned int cpus)
{
	struct setting setting = { .cpus = cpus, .hold_scale = 1, .sleep_scale = 1, .is_recorded = true };
	bool waits_anew;
	uint64_t ns;

	begin_record();
	ns = run_program(&setting, &waits_anew);
	end_record(ns);
	if (w.whatif.recorded_ns != ns)
		fail_msg("seed %u: recorded %ju of %ju", w.seed, (uintmax_t)w.whatif.recorded_ns, (uintmax_t)ns);
}

static void forget(void)
{
	whatif_fini(&w.whatif);
	run_code_fini(&w.code);
	lives_fini(&w.lives);
	state_stage_close(&w.stage);
}

static void begin(uint32_t seed)
{
	memset(&w, 0, sizeof(w));
	w.seed = w.random = seed;
}

static struct operation *add(unsigned int thread, int kind, uint64_t ns)
{
	struct operation *o = &w.program.operations[thread][w.program.counts[thread]++];

	CHECK_THAT(w.program.counts[thread], <=, OPERATIONS);
	*o = (struct operation){ .kind = kind, .ns = ns };
	return o;
}

/* Threads that sleep and work, and let others go: each gate is opened before it is passed, in one order. */
static void make_gates(void)
{
	w.program.thread_count = 2 + pick(THREADS - 1);
	for (unsigned int i = 0; i < 60; i++) {
		unsigned int thread = pick(w.program.thread_count), other = pick(w.program.thread_count);
		unsigned int gate = thread * THREADS + other;

		if (w.program.counts[thread] > OPERATIONS - 4 || w.program.counts[other] > OPERATIONS - 4)
			continue;
		add(thread, WORK, 1000 + pick(3000000))->is_hot = pick(2);
		if (pick(2))
			add(thread, SLEEP, 1000 + pick(3000000));
		if (thread == other)
			continue;
		add(thread, WORK, 1000 + pick(100000));
		add(thread, OPEN, 0)->gate = gate;
		add(other, PASS, 0)->gate = gate;
	}
	for (unsigned int i = 0; i < w.program.thread_count; i++)
		add(i, WORK, 1000 + pick(100000));
}

/* Threads that always find the lock taken, also when it is held for less. */
static void make_convoy(double scale)
{
	uint64_t hold_ns = 200000 + pick(1000000);
	unsigned int rounds = 10 + pick(20);

	w.program.thread_count = 3 + pick(THREADS - 2);
	w.program.has_lock = true;
	for (unsigned int i = 0; i < w.program.thread_count; i++) {
		add(i, WORK, 1000 + 1000 * i);
		for (unsigned int j = 0; j < rounds; j++) {
			add(i, LOCK, 0);
			add(i, HOLD, hold_ns + pick(hold_ns / 10));
			add(i, UNLOCK, 0);
			add(i, SLEEP, 1000 + pick(hold_ns * scale * (w.program.thread_count - 2) * 0.8));
			add(i, WORK, 1 + pick(1000));
		}
	}
}

/* One makes items, in hot code, and another takes them: whom to wake takes time, and who is woken is late. */
static void make_queue(void)
{
	uint64_t make_ns = 20000 + pick(100000), take_ns = 10000 + pick(40000);

	w.program.thread_count = 2;
	w.program.wake_ns = 5000 + pick(40000);
	w.program.late_ns = 5000 + pick(60000);
	for (unsigned int i = 0; i < OPERATIONS / 3 - 1; i++) {
		add(0, WORK, make_ns + pick(make_ns / 5))->is_hot = true;
		add(0, WORK, 1000);
		add(0, OPEN, 0)->gate = 1;
		add(1, PASS, 0)->gate = 1;
		add(1, WORK, take_ns + pick(take_ns / 5));
	}
	add(0, PASS, 0)->gate = THREADS;
	add(1, OPEN, 0)->gate = THREADS;
	add(0, WORK, 100000);
}

/* Changes that no kernel would tell: threads that are woken by who sleeps, wait for each other, run twice. */
static uint64_t record_nonsense(void)
{
	static const uint16_t calls[] = { SYS_nanosleep, SYS_futex, SYS_read };
	struct run run = { .setting = &(struct setting){ .is_recorded = true } };

	for (unsigned int i = pick(400); i-- > 0;) {
		struct ev_sched_switch out = {
			.state = pick(4) ? SWITCH_SLEEPING : SWITCH_RUNNABLE,
			.syscall = calls[pick(3)],
			.object = LOCK_OBJECT + 8 * pick(3),
			.operation = pick(2) ? 128 : 137,
		};
		struct ev_sched_wake wake = {
			.waker = pick(THREADS + 2),
			.tid = 100 + pick(8),
			.context = pick(3),
			.syscall = pick(4) ? SYS_futex : SYS_exit,
		};
		struct state_change change = {
			.phase = PHASE_BLOCKED + pick(pick(20) ? 3 : 4),
			.cpu = pick(3),
			.out = pick(8) ? &out : NULL,
			.wake = pick(8) ? &wake : NULL,
		};

		if (change.phase == PHASE_RUNNABLE && pick(2))
			change.out = NULL;
		run.now_ns += pick(3) ? pick(1000000) : 0;
		emit(&run, pick(THREADS), change);
	}
	return run.now_ns + 1;
}

/* --- The tests ---------------------------------------------------------------------------------- */

/* cause NULL: hot code, if that is to be shorter. */
static struct whatif_answer predict_change(const char *cause, bool is_hot, double scale, unsigned int cpus)
{
	struct element_choice choice;
	struct whatif_answer answer;
	uint64_t ns = 0;

	element_choice_init(&choice, &w.lives, &w.code);
	if (cause)
		element_choose(&w.whatif.runs, NULL, ELEMENT_CAUSE, cause, &choice);
	for (size_t i = 0; i < w.code.place_count; i++)
		choice.places[i] = is_hot && w.code.places[i].ip == HOT_IP;
	whatif_predict(&w.whatif, &(struct whatif_change){ &choice, scale, cpus }, &answer);
	element_choice_fini(&choice);
	for (size_t i = 0; i < answer.path.count; i++)
		ns += answer.path.parts[i].end_ns - answer.path.parts[i].begin_ns;
	ns = (double)ns / w.whatif.replay_ns * w.whatif.recorded_ns;
	if (ns > answer.predicted_ns + 1 || ns + 1 < answer.predicted_ns)
		fail_msg("seed %u: the path is %ju, the replay %ju", w.seed, (uintmax_t)ns,
			 (uintmax_t)answer.predicted_ns);
	critical_path_fini(&answer.path);
	return answer;
}

static struct whatif_answer predict(const char *cause, double scale, unsigned int cpus)
{
	return predict_change(cause, false, scale, cpus);
}

static double off(uint64_t a, uint64_t b)
{
	return a > b ? (double)(a - b) / b : (double)(b - a) / b;
}

TEST(a_replay_of_what_was_recorded_takes_as_long)
{
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		begin(seed);
		if (seed % 4)
			make_gates();
		else
			make_convoy(1);
		record(1 + pick(THREADS));
		if (off(w.whatif.replay_ns, w.whatif.recorded_ns) > 0.001)
			fail_msg("seed %u: %ju instead of %ju", seed, (uintmax_t)w.whatif.replay_ns,
				 (uintmax_t)w.whatif.recorded_ns);
		forget();
	}
}

TEST(shorter_sleeps_give_what_they_really_give_unless_others_wait_then)
{
	unsigned int same_count = 0;

	for (uint32_t seed = 1; seed <= 1000; seed++) {
		struct setting setting = { .cpus = THREADS, .hold_scale = 1, .sleep_scale = pick(11) / 10.0 };
		struct whatif_answer answer;
		bool waits_anew;
		uint64_t ns;

		begin(seed);
		setting.sleep_scale = pick(11) / 10.0;
		make_gates();
		record(THREADS);
		ns = run_program(&setting, &waits_anew);
		answer = predict("sleep", setting.sleep_scale, THREADS);
		if (answer.predicted_ns > ns + 1000)
			fail_msg("seed %u: %ju is more than %ju", seed, (uintmax_t)answer.predicted_ns, (uintmax_t)ns);
		if (!waits_anew && answer.predicted_ns + 1000 < ns)
			fail_msg("seed %u: %ju is less than %ju", seed, (uintmax_t)answer.predicted_ns, (uintmax_t)ns);
		same_count += !waits_anew;
		forget();
	}
	CHECK_THAT(same_count, >, 100);
}

TEST(other_numbers_of_cpus_give_what_they_really_give)
{
	unsigned int same_count = 0;

	for (uint32_t seed = 1; seed <= 1000; seed++) {
		struct setting setting = { .hold_scale = 1, .sleep_scale = 1 };
		struct whatif_answer answer;
		bool waits_anew;
		uint64_t ns;

		begin(seed);
		make_gates();
		record(1 + pick(THREADS));
		setting.cpus = 1 + pick(THREADS);
		ns = run_program(&setting, &waits_anew);
		answer = predict(NULL, 1, setting.cpus);
		if (!waits_anew && off(answer.predicted_ns, ns) > 0.05)
			fail_msg("seed %u: %ju instead of %ju", seed, (uintmax_t)answer.predicted_ns, (uintmax_t)ns);
		same_count += !waits_anew;
		forget();
	}
	CHECK_THAT(same_count, >, 100);
}

TEST(a_convoy_is_as_much_faster_as_its_lock)
{
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		struct setting setting = { .cpus = THREADS, .sleep_scale = 1 };
		struct whatif_answer answer;
		bool waits_anew;
		uint64_t ns;

		begin(seed);
		setting.hold_scale = (2 + pick(9)) / 10.0;
		make_convoy(setting.hold_scale);
		record(THREADS);
		ns = run_program(&setting, &waits_anew);
		answer = predict("lock", setting.hold_scale, THREADS);
		/* Nobody waits for the last holds: these are unknown. */
		if (off(answer.predicted_ns, ns) > 0.07)
			fail_msg("seed %u: %ju instead of %ju", seed, (uintmax_t)answer.predicted_ns, (uintmax_t)ns);
		if (answer.least_ns > answer.predicted_ns || answer.most_ns < answer.predicted_ns)
			fail_msg("seed %u: bounds", seed);
		forget();
	}
}

static const char *const causes[] = { "lock", "condition", "sleep", "join", "file" };

static void check_same(struct whatif_answer answer)
{
	if (answer.predicted_ns != w.whatif.recorded_ns || answer.least_ns != w.whatif.recorded_ns ||
	    answer.most_ns != w.whatif.recorded_ns)
		fail_msg("seed %u: %ju, %ju to %ju instead of %ju", w.seed, (uintmax_t)answer.predicted_ns,
			 (uintmax_t)answer.least_ns, (uintmax_t)answer.most_ns, (uintmax_t)w.whatif.recorded_ns);
}

static void make_any(void)
{
	if (w.seed % 2)
		make_gates();
	else
		make_convoy(1);
}

TEST(what_takes_as_long_as_it_did_changes_nothing_at_best_and_at_worst)
{
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		begin(seed);
		make_any();
		record(1 + pick(THREADS));
		check_same(predict(causes[pick(3)], 1, w.whatif.cpu_count));
		forget();
	}
}

TEST(where_each_thread_has_a_cpu_the_shorter_something_is_the_shorter_is_the_run)
{
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		uint64_t longer_ns;

		begin(seed);
		make_any();
		record(THREADS);
		longer_ns = w.whatif.recorded_ns;
		for (int tenths = 10; tenths >= 0; tenths -= 1 + pick(5)) {
			uint64_t ns = predict(causes[seed % 3], tenths / 10.0, THREADS).predicted_ns;

			/* Lengths are cut to whole ns, one after the other. */
			if (ns > longer_ns + 1000)
				fail_msg("seed %u: %ju is more than %ju", seed, (uintmax_t)ns, (uintmax_t)longer_ns);
			longer_ns = ns;
		}
		forget();
	}
}

TEST(faster_code_gives_what_it_really_gives_unless_others_wait_then)
{
	unsigned int same_count = 0;

	for (uint32_t seed = 1; seed <= 500; seed++) {
		struct setting setting = { .cpus = THREADS, .hold_scale = 1, .sleep_scale = 1 };
		struct whatif_answer answer;
		bool waits_anew;
		uint64_t ns;

		begin(seed);
		setting.cooled = pick(11) / 10.0;
		make_gates();
		record(THREADS);
		ns = run_program(&setting, &waits_anew);
		answer = predict_change(NULL, true, 1 - setting.cooled, THREADS);
		if (!waits_anew && off(answer.predicted_ns, ns) > 0.02)
			fail_msg("seed %u: %ju instead of %ju", seed, (uintmax_t)answer.predicted_ns, (uintmax_t)ns);
		same_count += !waits_anew;
		forget();
	}
	CHECK_THAT(same_count, >, 50);
}

TEST(the_faster_code_is_the_shorter_is_the_run_and_as_fast_as_it_was_it_is_the_run)
{
	for (uint32_t seed = 1; seed <= 500; seed++) {
		uint64_t longer_ns;

		begin(seed);
		make_gates();
		record(THREADS);
		longer_ns = w.whatif.recorded_ns;
		check_same(predict_change(NULL, true, 1, THREADS));
		for (int tenths = 9; tenths >= 0; tenths -= 1 + pick(5)) {
			struct whatif_answer answer = predict_change(NULL, true, tenths / 10.0, THREADS);

			if (answer.predicted_ns > longer_ns + 1000 || answer.least_ns > answer.predicted_ns ||
			    answer.most_ns < answer.predicted_ns)
				fail_msg("seed %u: %ju, %ju to %ju, is more than %ju", seed,
					 (uintmax_t)answer.predicted_ns, (uintmax_t)answer.least_ns,
					 (uintmax_t)answer.most_ns, (uintmax_t)longer_ns);
			longer_ns = answer.predicted_ns;
		}
		forget();
	}
}

TEST(who_finds_what_it_wants_neither_sleeps_nor_is_woken)
{
	unsigned int less_count = 0, far_count = 0;

	for (uint32_t seed = 1; seed <= 500; seed++) {
		struct setting setting = { .cpus = THREADS, .hold_scale = 1, .sleep_scale = 1 };
		struct whatif_answer answer;
		unsigned int sleeps;
		bool waits_anew;
		uint64_t ns;

		begin(seed);
		setting.cooled = pick(11) / 10.0;
		make_queue();
		record(THREADS);
		sleeps = w.sleeps;
		CHECK_THAT(off(w.whatif.replay_ns, w.whatif.recorded_ns), <, 0.001);
		check_same(predict_change(NULL, true, 1, THREADS));
		ns = run_program(&setting, &waits_anew);
		answer = predict_change(NULL, true, 1 - setting.cooled, THREADS);
		/* Where both are there at about the same time, a little decides who sleeps, and so it goes on. */
		far_count += off(answer.predicted_ns, ns) > 0.05;
		if (off(answer.predicted_ns, ns) > 0.2)
			fail_msg("seed %u: %ju instead of %ju", seed, (uintmax_t)answer.predicted_ns, (uintmax_t)ns);
		less_count += w.sleeps < 0.8 * sleeps;
		forget();
	}
	CHECK_THAT(far_count, <=, 10);
	CHECK_THAT(less_count, >, 100);
}

static uint64_t predict_without_wakeups(double scale)
{
	struct element_choice choice;
	struct whatif_answer answer;

	element_choice_init(&choice, &w.lives, &w.code);
	for (size_t i = 0; i < w.lives.wait_count; i++)
		choice.wakeups[i] = true;
	whatif_predict(&w.whatif, &(struct whatif_change){ &choice, scale, THREADS }, &answer);
	element_choice_fini(&choice);
	critical_path_fini(&answer.path);
	return answer.predicted_ns;
}

TEST(free_wake_ups_give_what_they_really_give)
{
	for (uint32_t seed = 1; seed <= 200; seed++) {
		struct setting setting = { .cpus = THREADS, .hold_scale = 1, .sleep_scale = 1 };
		bool waits_anew;
		uint64_t ns;

		begin(seed);
		make_queue();
		record(THREADS);
		CHECK_EQUAL(predict_without_wakeups(1), w.whatif.recorded_ns);
		w.program.wake_ns = w.program.late_ns = 0;
		ns = run_program(&setting, &waits_anew);
		if (off(predict_without_wakeups(0), ns) > 0.10)
			fail_msg("seed %u: %ju instead of %ju of %ju", seed, (uintmax_t)predict_without_wakeups(0),
				 (uintmax_t)ns, (uintmax_t)w.whatif.recorded_ns);
		forget();
	}
}

static void emit_at(unsigned int ms, uint32_t number, struct state_change change)
{
	change.thread = threads_get(w.stage.threads, number);
	change.time_ns = BEGIN_NS + ms * 1000000ull;
	w.stage.listener->on_change(w.stage.listener->data, &change);
}

static void block_at(unsigned int ms, uint32_t number, struct ev_sched_switch e)
{
	e.state = SWITCH_SLEEPING;
	emit_at(ms, number, (struct state_change){ .phase = PHASE_BLOCKED, .out = &e });
}

/* waker: 0: a timer. */
static void wake_at(unsigned int ms, uint32_t number, uint32_t waker)
{
	struct ev_sched_wake e = {
		.waker = waker,
		.tid = waker ? 100 + waker : 0,
		.syscall = waker ? SYS_futex : SYSCALL_NONE,
		.context = waker ? WAKE_THREAD : WAKE_HARDIRQ,
	};

	emit_at(ms, number, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &e });
	emit_at(ms, number, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number });
}

/* Thread 1 works 10, sleeps 40, works 2, waits 8 for thread 2, which sleeps 59 of 60, and works 10. */
static uint64_t predict_beside_clock(bool has_ended)
{
	const struct ev_sched_switch sleep = { .syscall = SYS_nanosleep }, lock = {
		.syscall = SYS_futex,
		.object = LOCK_OBJECT,
		.operation = FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
	};
	struct whatif_answer answer;

	begin(1);
	begin_record();
	for (uint32_t number = 1; number <= 2; number++)
		emit_at(0, number, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number });
	block_at(1, 2, sleep);
	block_at(10, 1, sleep);
	wake_at(50, 1, 0);
	block_at(52, 1, lock);
	wake_at(60, 2, 0);
	wake_at(60, 1, 2);
	block_at(61, 2, sleep);
	wake_at(65, 2, 0);
	if (has_ended)
		emit_at(66, 2, (struct state_change){ .phase = PHASE_DEAD });
	emit_at(70, 1, (struct state_change){ .phase = PHASE_DEAD });
	end_record(70000000);
	CHECK_EQUAL(w.whatif.recorded_ns, 70000000);
	answer = predict("sleep", 0.5, w.whatif.cpu_count);
	forget();
	return answer.predicted_ns;
}

TEST(who_goes_by_the_clock_is_waited_for_as_long_as_it_was_and_whose_work_it_is_until_it_is_there)
{
	CHECK_THAT(off(predict_beside_clock(false), 50000000), <, 0.001);
	CHECK_THAT(off(predict_beside_clock(true), 42000000), <, 0.001);
}

/* Thread 1 is woken at 20, gets a CPU from a thread that the kernel hides, sleeps from 30 to 40 and works until 50. */
TEST(who_blocks_has_run_also_where_no_record_says_when_it_got_a_cpu)
{
	const struct ev_sched_switch sleep = { .syscall = SYS_nanosleep }, lock = {
		.syscall = SYS_futex,
		.object = LOCK_OBJECT,
		.operation = FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
	};
	struct ev_sched_wake wake = { .waker = 2, .tid = 102, .syscall = SYS_futex, .context = WAKE_THREAD };

	begin(1);
	begin_record();
	for (uint32_t number = 1; number <= 2; number++)
		emit_at(0, number, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number });
	block_at(10, 1, lock);
	emit_at(20, 1, (struct state_change){ .phase = PHASE_RUNNABLE, .wake = &wake });
	emit_at(25, 2, (struct state_change){ .phase = PHASE_DEAD });
	block_at(30, 1, sleep);
	wake_at(40, 1, 0);
	emit_at(50, 1, (struct state_change){ .phase = PHASE_DEAD });
	end_record(50000000);
	CHECK_THAT(off(w.whatif.replay_ns, 50000000), <, 0.0001);
	CHECK_THAT(off(predict("sleep", 0.5, 2).predicted_ns, 45000000), <, 0.0001);
	forget();
}

/*
 * Thread 1 works 40, in hot code, and comes last to a barrier, where 2 and 3 wait since 10 and 30; then all work 10.
 * Without its hot code thread 3 is last.
 */
TEST(who_came_last_to_a_barrier_waits_for_the_others_when_it_comes_before_them)
{
	const struct ev_sched_switch barrier = {
		.syscall = SYS_futex,
		.object = LOCK_OBJECT,
		.operation = FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
	};
	struct whatif_answer answer;

	begin(1);
	begin_record();
	for (uint32_t number = 1; number <= 3; number++)
		emit_at(0, number, (struct state_change){ .phase = PHASE_RUNNING, .cpu = number });
	block_at(10, 2, barrier);
	block_at(30, 3, barrier);
	wake_at(40, 2, 1);
	wake_at(40, 3, 1);
	for (uint32_t number = 1; number <= 3; number++)
		emit_at(50, number, (struct state_change){ .phase = PHASE_DEAD });
	for (uint32_t number = 1; number <= 3; number++)
		for (uint64_t ms = 0; ms < 50; ms++) {
			struct ev_sched_sample e = { .header.thread = number, .ip = COLD_IP };

			e.header.time_ns = BEGIN_NS + ms * 1000000 + 500000;
			if (number == 1 && ms < 40)
				e.ip = HOT_IP;
			if ((number == 2 && ms >= 10 && ms < 40) || (number == 3 && ms >= 30 && ms < 40))
				continue;
			run_code_add(&w.code, 1, &e);
		}
	end_record(50000000);
	/* The names of functions say that in a trace. */
	for (size_t i = 0; i < w.lives.wait_count; i++)
		w.lives.waits[i].wait.cause = CAUSE_BARRIER;
	CHECK_THAT(off(predict_change(NULL, true, 1, 3).predicted_ns, 50000000), <, 0.0001);
	answer = predict_change(NULL, true, 0, 3);
	CHECK_THAT(answer.predicted_ns, >=, 37000000);
	CHECK_THAT(answer.predicted_ns, <=, 43000000);
	forget();
}

TEST(what_no_kernel_would_report_is_replayed_to_its_end)
{
	for (uint32_t seed = 1; seed <= 1000; seed++) {
		struct whatif_answer answer;

		begin(seed);
		begin_record();
		end_record(record_nonsense());
		if (w.whatif.recorded_ns) {
			answer = predict(causes[pick(5)], pick(3) / 2.0, 1 + pick(4));
			CHECK_THAT(answer.least_ns, <=, answer.most_ns);
			check_same(predict(causes[pick(5)], 1, w.whatif.cpu_count));
		}
		forget();
	}
}
