/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that overtake each other. Each CPU and the iterator is a coroutine that follows the
 * kernel's own order of steps and locks (kernel/sched/core.c: __schedule(), try_to_wake_up(),
 * wake_up_new_task(), do_task_dead()), and may be interrupted by the others at each helper
 * and each atomic operation of a program. When all are done, the counts must be right.
 */
#include "test.h"
#include "model.h"
#include "shim.h"

#include <ucontext.h>

enum {
	CPUS = 4,
	ACTORS = CPUS + 1,
	ITERATOR = CPUS,
	TASKS_MAX = 48,
	SLOTS = 1 << 10,
	RACE_STACK_BYTES = 64 << 10,
	COINS_MAX = 512
};

struct race_task {
	struct task_struct task;
	struct pid pid;
	struct mm_struct mm;
	struct signal_struct signal;
	uint32_t cpu;               /* where it is queued or runs */
	bool is_queued, is_current; /* on_rq of the kernel is either */
	bool has_pi_lock;
	bool has_slept;
	uint32_t coins[COINS_MAX]; /* thrown in its switches */
	uint32_t coin_count;
};

struct actor {
	ucontext_t context;
	bool is_done;
	struct race_task *leaving; /* while its switch's program runs */
	struct task_struct *current;
};

struct settings {
	uint32_t steps;
	bool births, deaths;
	bool listing;  /* the iterator comes while they run */
	bool reading;  /* somebody reads the slot rings while they run */
	bool holding;  /* CPUs are held up where a thread has just blocked */
	bool external; /* nobody is traced, all are recorded */
};

static struct race_task tasks[TASKS_MAX];
static uint32_t task_count;
static struct race_task *current[CPUS]; /* NULL: idle */
static struct race_task idle[CPUS];
static bool has_rq_lock[CPUS];
static struct actor actors[ACTORS];
static char stacks[ACTORS][RACE_STACK_BYTES];
static int running = -1; /* the actor; -1: the test itself */
static ucontext_t test_context;
static struct settings settings;
static uint32_t programs_running;
static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return (random_state >> 33) % limit;
}

/* Lets the others go on. */
static void pause_here(void)
{
	if (running >= 0)
		swapcontext(&actors[running].context, &test_context);
}

/* Calls a program; the others may call theirs meanwhile. */
#define in_program(call)            \
	do {                        \
		programs_running++; \
		call;               \
		programs_running--; \
	} while (0)

static void lock(bool *has_lock)
{
	while (*has_lock)
		pause_here();
	*has_lock = true;
}

/* --- The kernel's steps ------------------------------------------------------------------ */

static struct task_struct *task_or_idle(struct race_task *task, uint32_t cpu)
{
	return task ? &task->task : &idle[cpu].task;
}

static struct race_task *pick(uint32_t cpu)
{
	uint32_t begin = below(TASKS_MAX);

	for (uint32_t i = 0; i < TASKS_MAX; i++) {
		struct race_task *task = &tasks[(begin + i) % TASKS_MAX];

		if (task->is_queued && task->cpu == cpu)
			return task;
	}
	return NULL;
}

static void schedule(uint32_t cpu, bool preempt)
{
	struct race_task *prev = current[cpu], *next;
	uint32_t prev_state;
	bool stays;

	lock(&has_rq_lock[cpu]);
	prev_state = prev ? prev->task.__state : 0;
	stays = prev && (preempt || !prev_state);
	if (prev && !stays) {
		prev->is_current = false; /* off the run queue from here on */
		prev->has_slept = true;
	}
	pause_here();
	next = pick(cpu);
	if (next || !stays) {
		actors[cpu].leaving = prev;
		in_program(sched_switch(NULL, preempt, task_or_idle(prev, cpu), task_or_idle(next, cpu), prev_state));
		actors[cpu].leaving = NULL;
		if (prev && stays) {
			prev->is_current = false;
			prev->is_queued = true;
		}
		if (next) {
			next->is_queued = false;
			next->is_current = true;
			next->task.on_cpu = 1;
			next->task.se.cfs_rq = shim_queue(cpu);
		}
		current[cpu] = next;
		actors[cpu].current = shim_current = task_or_idle(next, cpu);
		pause_here();
		if (prev)
			prev->task.on_cpu = 0;
	}
	has_rq_lock[cpu] = false;
}

static bool is_on_queue(const struct race_task *task)
{
	return task->is_queued || task->is_current;
}

static void wake(uint32_t cpu, struct race_task *task)
{
	uint32_t state, home;

	lock(&task->has_pi_lock);
	state = task->task.__state;
	if (!state || state & (TASK_DEAD | TASK_NEW | TASK_WAKING))
		goto out_unlock;
	in_program(sched_waking(NULL, &task->task));
	pause_here();
	if (is_on_queue(task)) {
		home = task->cpu;
		lock(&has_rq_lock[home]);
		if (is_on_queue(task) && task->cpu == home) {
			task->task.__state = 0;
			in_program(sched_wakeup(NULL, &task->task));
			has_rq_lock[home] = false;
			goto out_unlock;
		}
		has_rq_lock[home] = false;
	}
	if (task->task.__state & TASK_DEAD)
		goto out_unlock;
	task->task.__state = TASK_WAKING;
	while (task->task.on_cpu)
		pause_here();
	home = below(4) ? cpu : below(CPUS);
	lock(&has_rq_lock[home]);
	task->cpu = home;
	task->is_queued = true;
	task->task.__state = 0;
	in_program(sched_wakeup(NULL, &task->task));
	has_rq_lock[home] = false;
out_unlock:
	task->has_pi_lock = false;
}

static struct race_task *new_task(uint32_t state)
{
	struct race_task *task = &tasks[task_count];

	*task = (struct race_task){ 0 };
	task->task.pid = 1000 + task_count;
	task->task.tgid = 1000;
	task->task.group_leader = &tasks[0].task;
	task->task.thread_pid = &task->pid;
	task->task.mm = &tasks[0].mm;
	task->task.signal = &task->signal;
	task->task.__state = state;
	task->has_slept = state != TASK_NEW;
	task_count++;
	return task;
}

static void clone_task(uint32_t cpu)
{
	struct race_task *child;

	if (!settings.births || task_count == TASKS_MAX)
		return;
	child = new_task(TASK_NEW); /* in the list of tasks from here on */
	pause_here();
	sched_process_fork(NULL, &current[cpu]->task, &child->task);
	pause_here();
	lock(&child->has_pi_lock);
	child->task.__state = 0;
	lock(&has_rq_lock[cpu]);
	child->cpu = cpu;
	child->is_queued = true;
	has_rq_lock[cpu] = false;
	child->has_pi_lock = false;
}

static void die(uint32_t cpu)
{
	struct race_task *task = current[cpu];

	if (!settings.deaths)
		return;
	sched_process_exit(NULL, &task->task);
	task->task.mm = NULL;
	lock(&task->has_pi_lock);
	task->task.__state = TASK_DEAD;
	task->has_pi_lock = false;
	pause_here();
	schedule(cpu, false);
}

static void cpu_step(uint32_t cpu)
{
	struct race_task *task = current[cpu];
	uint32_t choice = below(settings.births || settings.deaths ? 20 : 13);

	/* A CPU may stay in a program for a microsecond or so, not for much longer. */
	shim_now_ns += programs_running ? below(100) : below(20000);
	if (!task || choice < 5) {
		struct race_task *other = &tasks[below(task_count)];

		if (other != task)
			wake(cpu, other);
		if (!task)
			schedule(cpu, false);
	} else if (choice < 10) {
		task->task.__state = 1 + below(2);
		pause_here();
		schedule(cpu, false);
		/* It may have been woken before it slept: then it goes on. */
	} else if (choice < 13) {
		schedule(cpu, true);
	} else if (choice < 18) {
		clone_task(cpu);
	} else if (!below(2)) {
		die(cpu);
	}
}

/* --- The actors --------------------------------------------------------------------------- */

static void run_cpu(void)
{
	uint32_t cpu = running;

	for (uint32_t i = 0; i < settings.steps; i++) {
		cpu_step(cpu);
		/* Whoever runs on is not about to sleep. */
		if (current[cpu] && current[cpu]->task.__state < TASK_DEAD)
			current[cpu]->task.__state = 0;
		pause_here();
	}
	actors[cpu].is_done = true;
	pause_here();
}

static void visit(struct race_task *task)
{
	list_threads(&(struct bpf_iter__task){ .task = &task->task });
}

static void run_iterator(void)
{
	for (uint32_t i = 0; i < 4 * settings.steps; i++) {
		/* The last ones are the most likely to be on their way into the world. */
		uint32_t among = below(2) ? task_count : 3;

		for (uint32_t pauses = below(6); pauses; pauses--)
			pause_here();
		visit(&tasks[task_count - 1 - below(among)]);
	}
	actors[ITERATOR].is_done = true;
	pause_here();
}

static void start_actor(uint32_t i)
{
	struct actor *actor = &actors[i];

	actor->is_done = i == ITERATOR && !settings.listing;
	actor->leaving = NULL;
	actor->current = i < CPUS ? &idle[i].task : NULL;
	getcontext(&actor->context);
	actor->context.uc_stack.ss_sp = stacks[i];
	actor->context.uc_stack.ss_size = sizeof(stacks[i]);
	actor->context.uc_link = NULL;
	makecontext(&actor->context, i == ITERATOR ? run_iterator : run_cpu, 0);
}

/* --- A reader, at any moment of theirs ------------------------------------------------------ */

static struct slot_reader {
	uint64_t vouched_ns; /* what comes later has a later time */
	uint64_t records, complete_looks, incomplete_looks;
} readers[CPUS], *reading;

static void on_slot(const struct ev_header *header)
{
	const struct ev_sched_switch *e = (const struct ev_sched_switch *)header;

	CHECK_THAT(header->time_ns, >, reading->vouched_ns);
	CHECK_THAT(header->time_ns, <=, shim_now_ns);
	reading->vouched_ns = header->time_ns;
	reading->records++;
	CHECK_THAT(header->thread, <=, task_count);
	if (header->event == TRACE_EVENT_SCHED_WAKE)
		return;
	CHECK_THAT(e->next, <=, task_count);
	CHECK_THAT(e->state, <=, SWITCH_DEAD);
	CHECK_EQUAL(e->cpu, reading - readers);
	CHECK(e->flags <= SWITCH_HAS_STACK || e->flags == SWITCH_STACK_SKIPPED);
}

/* As the collector does: the time first, then the positions. */
static void read_slots(uint32_t cpu)
{
	uint64_t now_ns = shim_now_ns;
	bool is_writing = cpu_counts[cpu].slots_begun != cpu_counts[cpu].slots_done;

	reading = &readers[cpu];
	if (shim_drain_slots(cpu, on_slot)) {
		CHECK(!is_writing);
		reading->vouched_ns = now_ns;
		reading->complete_looks++;
	} else {
		reading->incomplete_looks++;
	}
}

/* ------------------------------------------------------------------------------------------- */

/* In the middle of the program of its switch, but a waker may come. */
static bool is_leaving(const struct actor *actor)
{
	return actor->leaving && shim_thread(&actor->leaving->task)->phase == PHASE_BLOCKED;
}

static bool is_held(uint32_t actor)
{
	static uint32_t held, turns_left;

	if (settings.holding && !turns_left && is_leaving(&actors[actor]) && !below(4)) {
		held = actor;
		turns_left = below(50);
	}
	if (actor != held || !turns_left)
		return false;
	turns_left--;
	return true;
}

static void run_all(void)
{
	static uint32_t left; /* static: it outlives the switches of context */

	left = ACTORS;
	programs_running = 0;
	for (uint32_t i = 0; i < ACTORS; i++)
		start_actor(i);
	left -= actors[ITERATOR].is_done;
	while (left) {
		uint32_t i = below(ACTORS);

		if (is_held(i) || actors[i].is_done)
			continue;
		running = i;
		shim_cpu = i;
		shim_current = actors[i].current;
		swapcontext(&test_context, &actors[i].context);
		left -= actors[i].is_done;
		running = -1;
		if (settings.reading && !below(8))
			read_slots(below(CPUS));
	}
	shim_cpu = 0;
}

static void begin(uint64_t seed)
{
	random_state = seed * 0x9e3779b97f4a7c15ull;
	shim_reset();
	shim_make_rings(ACTORS, 8 << 20, SLOTS);
	shim_tick_ns = 7;
	shim_at_point = pause_here;
	shim_set_target(1000, settings.external ? 0 : TARGET_EXISTING);
	shim_set_option(tells_system, settings.external);
	memset(tasks, 0, sizeof(tasks));
	task_count = 0;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		current[cpu] = NULL;
		idle[cpu] = (struct race_task){ .task.flags = PF_KTHREAD };
		idle[cpu].task.group_leader = &idle[cpu].task;
		idle[cpu].task.se.cfs_rq = shim_queue(cpu);
		has_rq_lock[cpu] = false;
	}
	for (uint32_t i = 0; i < 6 + seed % 4; i++)
		new_task(1);
}

/* --- What must hold when all is quiet ------------------------------------------------------ */

/* What the programs know of a task; number 0: nothing. */
struct known {
	uint32_t number, phase;
};

static struct known known_of(const struct race_task *task)
{
	const struct thread_state *thread = shim_thread((struct task_struct *)&task->task);
	const struct external_thread *external = shim_external((struct task_struct *)&task->task);

	CHECK(!(settings.external ? (const void *)thread : external));
	if (thread)
		return (struct known){ thread->thread, thread->phase };
	if (external)
		return (struct known){ external->number & ~THREAD_EXTERNAL, external->phase };
	return (struct known){ 0, PHASE_UNKNOWN };
}

static bool is_seen_active(const struct race_task *task)
{
	return is_active_phase(known_of(task).phase);
}

static bool is_dead(const struct race_task *task)
{
	return task->task.__state & TASK_DEAD;
}

static void check_counts(void)
{
	uint32_t active = 0, alive = 0;

	CHECK(!shim_records_open());
	for (uint32_t i = 0; i < task_count; i++) {
		struct known known = known_of(&tasks[i]);

		alive += !is_dead(&tasks[i]);
		active += is_seen_active(&tasks[i]);
		if (is_dead(&tasks[i]))
			CHECK(!known.number || known.phase == PHASE_DEAD);
		else {
			CHECK(known.number);
			CHECK_THAT(known.phase, !=, PHASE_UNKNOWN);
		}
		for (uint32_t j = 0; known.number && j < i; j++)
			CHECK_THAT(known_of(&tasks[j]).number, !=, known.number);
	}
	CHECK_EQUAL(threads_alive, (settings.external ? 0 : alive));
	CHECK_EQUAL(active_count(), (settings.external ? 0 : active));
}

/*
 * A waker examines the thread before it marks its state. Where the switch comes in between,
 * neither sees the other; sched_wakeup makes up for that. But who is woken between the iterator's
 * look at its state and the mark that it leaves is taken for asleep until it has a CPU
 * (may_seem_asleep): the other mistake would last for as long as it sleeps.
 */
static void check_phases(bool may_seem_asleep)
{
	for (uint32_t i = 0; i < task_count; i++)
		CHECK(is_seen_active(&tasks[i]) == is_on_queue(&tasks[i]) ||
		      (may_seem_asleep && is_on_queue(&tasks[i])));
}

/* Lets each thread run once and sleep: all that was mistaken before must be right then. */
static void settle(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		for (uint32_t rounds = 0; rounds < 2 * TASKS_MAX; rounds++) {
			shim_cpu = cpu;
			if (current[cpu])
				current[cpu]->task.__state = 1;
			schedule(cpu, false);
		}
	shim_cpu = 0;
	CHECK(!active_count());
	check_counts();
	check_phases(false);
}

/* Each recorded number belongs to a living thread or has died; none is recorded twice. */
static void check_numbers(void)
{
	static bool is_recorded[4 * TASKS_MAX], has_died[4 * TASKS_MAX];
	const struct ev_header *header;

	memset(is_recorded, 0, sizeof(is_recorded));
	memset(has_died, 0, sizeof(has_died));
	for (uint32_t cpu = 0; cpu < ACTORS; cpu++)
		while ((header = shim_read(&rings, cpu, NULL))) {
			uint32_t number = header->thread & ~THREAD_EXTERNAL;

			CHECK_THAT(number, <, 4 * TASKS_MAX);
			CHECK(!number || !(header->thread & THREAD_EXTERNAL) == !settings.external);
			if (header->subsys == TRACE_SUBSYS_THREAD) {
				CHECK_EQUAL(!number, header->event == TRACE_EVENT_THREAD_OTHER);
				is_recorded[number] = true;
			} else if (header->subsys == TRACE_SUBSYS_SCHED && !header->event &&
				   ((const struct ev_sched_switch *)header)->state == SWITCH_DEAD)
				has_died[number] = true;
		}
	for (uint32_t i = 0; i < task_count; i++) {
		uint32_t number = known_of(&tasks[i]).number;

		if (!number || is_dead(&tasks[i]))
			continue;
		CHECK(is_recorded[number] && !has_died[number]);
		is_recorded[number] = false;
	}
	for (uint32_t number = 1; number < 4 * TASKS_MAX; number++)
		CHECK(!is_recorded[number] || has_died[number]);
}

static void run(uint64_t seed)
{

	begin(seed);
	if (!settings.listing)
		for (uint32_t i = 0; i < task_count; i++)
			visit(&tasks[i]);
	run_all();
	/* pinch lists once more after it has attached; so whoever was overtaken is found. */
	for (uint32_t i = 0; i < task_count; i++)
		visit(&tasks[i]);
	check_counts();
	check_phases(settings.listing);
	settle();
	check_numbers();
}

enum { SEEDS = 500 };

TEST(counts_are_right_after_cpus_have_overtaken_each_other)
{
	settings = (struct settings){ .steps = 60 };
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run(seed);
}

TEST(counts_are_right_when_threads_begin_and_end_meanwhile)
{
	settings = (struct settings){ .steps = 60, .births = true, .deaths = true };
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run(seed);
}

TEST(counts_are_right_when_the_iterator_races_with_events)
{
	settings = (struct settings){ .steps = 20, .listing = true };
	for (uint64_t seed = 1; seed <= SEEDS; seed++)
		run(seed);
}

TEST(counts_are_right_when_the_iterator_races_with_births_and_deaths)
{
	settings = (struct settings){ .steps = 25, .births = true, .deaths = true, .listing = true };
	for (uint64_t seed = 1; seed <= 2 * SEEDS; seed++)
		run(seed);
}

TEST(phases_are_right_of_those_who_are_not_traced)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		settings = (struct settings){
			.steps = 40, .births = seed % 2, .deaths = seed % 2, .listing = seed % 3 == 0, .external = true
		};
		run(seed);
	}
}

/* --- Decisions, against the exact model of the records in time order ------------------------ */

enum { RECORDS_MAX = 8192 };

struct replayed {
	bool is_active, is_running;
	uint64_t slice_begin_ns;
};

static struct ev_sched_switch records[RECORDS_MAX];
static size_t record_count;

static int compare_times(const void *a, const void *b)
{
	const struct ev_header *x = a, *y = b;

	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void gather_records(void)
{
	const struct ev_header *header;
	size_t size;

	record_count = 0;
	for (uint32_t cpu = 0; cpu < ACTORS; cpu++)
		while ((header = shim_read(&rings, cpu, &size))) {
			if (header->subsys != TRACE_SUBSYS_SCHED)
				continue;
			CHECK_THAT(record_count, <, RECORDS_MAX);
			CHECK_THAT(size, <=, sizeof(*records));
			memcpy(&records[record_count++], header, size);
		}
	qsort(records, record_count, sizeof(*records), compare_times);
}

static void set_active(struct model *model, struct replayed *thread, uint64_t time_ns, bool is_active)
{
	model_change(model, time_ns, is_active - thread->is_active, 0);
	thread->is_active = is_active;
}

TEST(no_critical_slice_is_missed_when_cpus_overtake_each_other)
{
	uint64_t critical = 0, others = 0;

	settings = (struct settings){ .steps = 60 };
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed threads_seen[TASKS_MAX + 1] = { 0 };
		struct model model;

		begin(seed);
		for (uint32_t i = 0; i < task_count; i++)
			visit(&tasks[i]);
		run_all();
		gather_records();
		model_init(&model, 0);
		model.alive = task_count;
		for (size_t i = 0; i < record_count; i++) {
			const struct ev_sched_switch *e = &records[i];
			struct replayed *out = &threads_seen[e->header.thread];
			struct replayed *in = &threads_seen[e->next];
			uint64_t time_ns = e->header.time_ns;

			if (e->header.event == TRACE_EVENT_SCHED_WAKE) {
				set_active(&model, out, time_ns, true);
				continue;
			}
			if (e->header.thread && out->is_running) {
				bool is_critical = model_is_critical(&model, out->slice_begin_ns, time_ns);
				critical += is_critical;
				others += !is_critical;
				CHECK(!is_critical || e->flags == SWITCH_HAS_STACK);
			}
			if (e->header.thread) {
				out->is_running = false;
				set_active(&model, out, time_ns, e->state == SWITCH_RUNNABLE);
			}
			if (e->next) {
				in->is_running = true;
				in->slice_begin_ns = time_ns;
				set_active(&model, in, time_ns, true);
			}
		}
		model_fini(&model);
	}
	CHECK_THAT(critical, >, 1000);
	CHECK_THAT(others, >, 1000);
}

/* A coin is 0 only where none has been thrown. */
static uint32_t throw_coin(void)
{
	struct race_task *task = actors[running].leaving;
	uint32_t coin = below(1 << 30) << 2 | below(2) << 1 | 1;

	if (!task)
		return UINT32_MAX;
	CHECK_THAT(task->coin_count, <, COINS_MAX);
	task->coins[task->coin_count++] = coin;
	return coin;
}

struct replayed_wait {
	bool is_open, has_stack;
	uint64_t begin_ns;
	uint32_t coin;
};

static void check_leaving(struct replayed_wait *wait, const struct ev_sched_switch *e, uint32_t *coins_read)
{
	const struct race_task *task = &tasks[e->header.thread - 1];
	bool has_stack = e->flags & SWITCH_HAS_STACK;

	wait->is_open = e->state != SWITCH_RUNNABLE;
	if (!wait->is_open && !e->flags)
		return;
	CHECK_THAT(*coins_read, <, task->coin_count);
	wait->begin_ns = e->header.time_ns;
	wait->coin = task->coins[(*coins_read)++];
	wait->has_stack = has_stack;
	CHECK(!has_stack || !e->keep || wait->coin < e->keep);
}

/* It was seen when the thread was on a run queue already. */
static bool is_late(const struct ev_sched_wake *e)
{
	return e->keep == 1;
}

/* Its length in ns; 0: it was not seen to begin, or no traced thread ended it. */
static uint64_t check_waking(struct replayed_wait *wait, const struct ev_sched_wake *e)
{
	uint64_t wait_ns = e->header.time_ns - wait->begin_ns;
	uint64_t keep = model_keep(wait_ns / task_count, keep_all_above_ns);

	if (!wait->is_open || !e->waker) {
		wait->is_open = false;
		return 0;
	}
	wait->is_open = false;
	if (is_late(e)) {
		CHECK(!(e->flags & (WAKE_HAS_STACK | WAKE_HAS_WAIT_STACK)));
		return wait_ns;
	}
	CHECK_EQUAL(e->keep, (keep < MODEL_CERTAIN ? keep : 0));
	CHECK_EQUAL(!(e->flags & WAKE_HAS_STACK), wait->coin >= keep);
	CHECK(!(e->flags & WAKE_HAS_STACK) || wait->has_stack || e->flags & WAKE_HAS_WAIT_STACK);
	return wait_ns;
}

/* A waker may come while the program of the switch is not over. Two stacks are better than none. */
TEST(stacks_of_a_wait_go_by_its_own_coin_when_cpus_overtake_each_other)
{
	uint64_t waits_ended = 0, short_waits = 0, late = 0, wait_ns;

	settings = (struct settings){ .steps = 60, .holding = true };
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct replayed_wait waits[TASKS_MAX + 1] = { 0 };
		uint32_t coins_read[TASKS_MAX + 1] = { 0 };

		begin(seed);
		keep_all_above_ns = 100 << seed % 8;
		shim_random = throw_coin;
		for (uint32_t i = 0; i < task_count; i++)
			visit(&tasks[i]);
		run_all();
		gather_records();
		for (size_t i = 0; i < record_count; i++) {
			const struct ev_sched_switch *e = &records[i];
			uint32_t thread = e->header.thread;

			if (e->header.event == TRACE_EVENT_SCHED_WAKE) {
				wait_ns = check_waking(&waits[thread], (const struct ev_sched_wake *)e);
				waits_ended += wait_ns > 0;
				late += is_late((const struct ev_sched_wake *)e);
				short_waits += wait_ns > 0 && wait_ns < 300;
			} else if (thread) {
				check_leaving(&waits[thread], e, &coins_read[thread]);
			}
		}
	}
	CHECK_THAT(waits_ended, >, 1000);
	CHECK_THAT(short_waits, >, 100);
	CHECK_THAT(short_waits, <, waits_ended / 2);
	CHECK_THAT(late, >, 0);
	CHECK_THAT(late, <, waits_ended / 2);
}

/* A program stops anywhere, as where a virtual CPU is taken away: what it writes is not there. */
TEST(a_reader_never_sees_an_incomplete_record_nor_guarantees_one)
{
	uint64_t records_read = 0, complete = 0, incomplete = 0, lost = 0, begun = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		settings = (struct settings){ .steps = 60, .births = seed % 2, .reading = true };
		begin(seed);
		/* Slots that are filled again and again, and many losses; or nearly none. */
		shim_make_slots(CPUS, seed % 3 ? 2 : 64);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			shim_set_slot_position(cpu, -(uint64_t)below(20));
		memset(readers, 0, sizeof(readers));
		for (uint32_t i = 0; i < task_count; i++)
			visit(&tasks[i]);
		begun -= cpu_counts[0].slots_begun;
		run_all();
		begun += cpu_counts[0].slots_begun;
		for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
			read_slots(cpu);
			CHECK(!shim_slots_waiting(cpu));
			lost += cpu_counts[cpu].lost;
			complete += readers[cpu].complete_looks;
			incomplete += readers[cpu].incomplete_looks;
		}
		records_read += readers[0].records;
	}
	CHECK_EQUAL(records_read, begun);
	CHECK_THAT(records_read, >, 1000);
	CHECK_THAT(complete, >, 1000);
	CHECK_THAT(incomplete, >, 1000);
	CHECK_THAT(lost, >, 1000);
}
