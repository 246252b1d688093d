// SPDX-License-Identifier: GPL-2.0-or-later
#include "world_internal.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	RING_BYTES = 1 << 20,
	SLOTS = 256,
};

void world_check(const struct world *world, bool is_so, const char *claim, const char *file, int line)
{
	if (is_so)
		return;
	print_error("not so: %s\n  in %s, step %lu of seed %lu\n", claim, world->what ? world->what : "the beginning",
		    world->step, world->seed);
	_fail(file, line);
}

const void *world_expect(struct world *world, uint32_t cpu, enum event_id id, uint32_t thread)
{
	const struct ev_header *header = world_read(world, cpu);

	world_require(world, header);
	world_require(world, header->subsys == id >> 16 && header->event == (id & 0xffff));
	world_require(world, header->thread == thread);
	world_require(world, header->time_ns == shim_now_ns);
	return header;
}

static void check_counts(struct world *world)
{
	uint64_t integral = (active_integral(activity, shim_now_ns) - world->integral_base) & INTEGRAL_MASK;

	for (uint32_t cpu = 0; cpu < world->options.cpu_count; cpu++)
		world_require(world, !world_read(world, cpu));
	world_check_external(world);
	world_require(world, !shim_records_open());
	world_require(world, active_count() == world->model.active);
	world_require(world, threads_alive == (uint64_t)world->model.alive);
	world_require(world,
		      integral == (uint64_t)(model_active_between(&world->model, 0, world->now_ns) & INTEGRAL_MASK));
	world->step++;
}

static void begin_on(struct world *world, const char *what, uint32_t cpu)
{
	world->what = what;
	shim_cpu = cpu;
	shim_current = &world->on_cpu[cpu]->task;
}

/* --- Making tasks ------------------------------------------------------------------------ */

static void init_task(struct world *world, struct world_task *task, struct world_task *leader)
{
	task->task.pid = ++world->pids_given;
	task->task.tgid = leader ? leader->task.tgid : task->task.pid;
	task->task.group_leader = leader ? &leader->task : &task->task;
	task->task.thread_pid = &task->pid;
	task->task.mm = leader ? &leader->mm : &task->mm;
	task->task.files = &world->files_struct;
	task->task.se.cfs_rq = shim_queue(0);
	task->task.signal = leader ? leader->task.signal : &task->signal;
	task->task.signal->live.counter++;
	task->task.start_boottime = 1000003ull * world->pids_given;
	task->task.nr_cpus_allowed = 1 + world->pids_given % 7;
	task->pid.level = 0;
	task->pid.numbers[0].nr = task->task.pid;
	snprintf(task->task.comm, sizeof(task->task.comm), "task%u", world->pids_given);
	task->path = world->pids_given % WORLD_PATHS;
	world_go_to_path(task);
	world_call(task, CALL_PLAIN, world->pids_given);
}

struct world_task *world_add_task(struct world *world, struct world_task *leader)
{
	struct world_task *task = calloc(1, sizeof(*task));

	world_require(world, task && world->task_count < WORLD_TASKS_MAX);
	init_task(world, task, leader);
	task->task.__state = 1;
	task->place = PLACE_BLOCKED;
	world->tasks[world->task_count++] = task;
	return task;
}

static struct pt_regs *registers_of(struct task_struct *task)
{
	return &((struct world_task *)task)->registers;
}

/* Each has the kernel's thread that runs when nobody else does. */
static void init_cpu(struct world *world, uint32_t cpu)
{
	struct world_task *idle = &world->idle[cpu];

	idle->is_idle = true;
	idle->place = PLACE_ON_CPU;
	idle->task.flags = PF_KTHREAD;
	idle->task.group_leader = &idle->task;
	idle->task.thread_pid = &idle->pid;
	idle->task.start_boottime = 1 + cpu;
	idle->task.se.cfs_rq = shim_queue(cpu);
	snprintf(idle->task.comm, sizeof(idle->task.comm), "idle%u", cpu);
	world->on_cpu[cpu] = idle;
}

void world_init(struct world *world, const struct world_options *options)
{
	*world = (struct world){ .options = *options, .pids_given = 100 };
	model_init(&world->model, options->nmin);
	shim_reset();
	shim_now_ns = options->begin_ns;
	shim_make_rings(options->cpu_count, RING_BYTES, SLOTS);
	shim_set_option(nmin, options->nmin);
	shim_set_option(threads_only, options->threads_only);
	shim_set_option(processes_only, options->processes_only);
	shim_set_option(trace_all, options->trace_all);
	shim_set_option(own_pid, options->own_pid);
	shim_set_option(tells_system, options->tells_system);
	shim_set_option(slice_stacks, !options->has_no_slice_stacks);
	keep_all_above_ns = options->keep_all_above_ns;
	world->integral_base = active_integral(activity, shim_now_ns);
	shim_registers = registers_of;
	world_stacks_init(world);
	world_waits_init(world);
	for (uint32_t cpu = 0; cpu < options->cpu_count; cpu++)
		init_cpu(world, cpu);
}

void world_fini(struct world *world)
{
	for (size_t i = 0; i < world->task_count; i++)
		free(world->tasks[i]);
	model_fini(&world->model);
}

void world_pass(struct world *world, uint64_t ns)
{
	shim_now_ns += ns;
	world->now_ns += ns;
}

/* --- Who is traced, by what the options promise ------------------------------------------ */

static bool is_process(const struct world_task *task)
{
	return task->task.pid == task->task.tgid;
}

static bool is_wanted(const struct world *world, const struct world_task *task)
{
	if (task->task.flags & PF_KTHREAD || (uint32_t)task->task.tgid == world->options.own_pid)
		return false;
	if (world->options.processes_only && !is_process(task))
		return false;
	return world->options.trace_all || shim_target(task->task.tgid) == TARGET_EXISTING;
}

static bool is_child_wanted(const struct world *world, const struct world_task *parent, const struct world_task *child)
{
	const struct world_task *leader = (struct world_task *)parent->task.group_leader;
	bool is_parent_traced = parent->is_traced || is_wanted(world, parent);
	bool is_leader_traced = leader->is_traced || is_wanted(world, leader);

	if (child->task.flags & PF_KTHREAD || (uint32_t)child->task.tgid == world->options.own_pid)
		return false;
	if (world->options.processes_only)
		return is_process(child) && (is_leader_traced || world->options.trace_all);
	if (world->options.threads_only && is_process(child))
		return false;
	return is_parent_traced || world->options.trace_all;
}

/* From here on the model has it as traced, in the place where it is. */
static void trace(struct world *world, struct world_task *task)
{
	bool is_active = task->place == PLACE_READY || task->place == PLACE_ON_CPU;

	task->is_traced = true;
	task->external_number = 0;
	task->number = ++world->numbers_given;
	task->slice_begin_ns = world->now_ns;
	model_change(&world->model, world->now_ns, is_active, 1);
}

/* --- Steps -------------------------------------------------------------------------------- */

struct world_task *world_fork(struct world *world, uint32_t cpu, bool is_thread)
{
	struct world_task *parent = world->on_cpu[cpu], *child;
	const struct ev_thread_born *e;

	begin_on(world, "fork", cpu);
	child = world_add_task(world, is_thread ? (struct world_task *)parent->task.group_leader : NULL);
	child->task.flags = parent->task.flags;
	child->task.__state = 0x800; /* TASK_NEW */
	child->place = PLACE_READY;
	sched_process_fork(NULL, &parent->task, &child->task);
	if (is_child_wanted(world, parent, child)) {
		trace(world, child);
		e = world_expect(world, cpu, EV_THREAD_BORN, child->number);
		world_require(world, e->parent == world_number(parent) && !e->is_outside);
		world_require(world, !e->reserved && e->cpus_allowed == child->task.nr_cpus_allowed);
		world_require(world, e->tid == (uint32_t)child->task.pid);
		world_require(world, e->pid == (uint32_t)child->task.tgid);
		world_require(world, e->ns_tid == e->tid && e->ns_pid == e->pid);
		world_require(world, e->start_ns == child->task.start_boottime);
		world_require(world, !strcmp(e->name, child->task.comm));
	}
	world->parent = parent;
	world_expect_external(world, EV_THREAD_BORN, child);
	child->task.__state = 0;
	check_counts(world);
	return child;
}

static void check_found(struct world *world, uint32_t cpu, const struct world_task *task)
{
	static const uint8_t phases[] = {
		[PLACE_BLOCKED] = PHASE_BLOCKED, [PLACE_READY] = PHASE_RUNNABLE, [PLACE_ON_CPU] = PHASE_RUNNING
	};
	const struct ev_thread_found *e = world_expect(world, cpu, EV_THREAD_FOUND, task->number);
	struct ev_thread_found found = *e;

	world_require(world, e->tid == (uint32_t)task->task.pid && !e->parent && !e->is_outside);
	world_require(world, e->pid == (uint32_t)task->task.tgid);
	world_require(world, e->ns_tid == e->tid && e->ns_pid == e->pid);
	world_require(world, e->phase == phases[task->place]);
	world_require(world, !e->reserved && e->cpus_allowed == (uint32_t)task->task.nr_cpus_allowed);
	world_require(world, !strcmp(e->name, task->task.comm));
	world_check_found_wait(world, cpu, task, &found);
}

void world_exec(struct world *world, uint32_t cpu)
{
	struct world_task *task = world->on_cpu[cpu];
	uint32_t kind = shim_target(task->task.tgid);
	const struct ev_thread_exec *e;

	begin_on(world, "exec", cpu);
	snprintf(task->task.comm, sizeof(task->task.comm), "exec%lu", world->step);
	sched_process_exec(NULL, &task->task, task->task.pid, NULL);
	if (task->is_traced) {
		e = world_expect(world, cpu, EV_THREAD_EXEC, task->number);
		world_require(world, e->tid == (uint32_t)task->task.pid);
		world_require(world, e->cpus_allowed == (uint32_t)task->task.nr_cpus_allowed);
		world_require(world, !strcmp(e->name, task->task.comm));
	} else if (kind == TARGET_EXEC) {
		trace(world, task);
		check_found(world, cpu, task);
		world_require(world, shim_target(task->task.tgid) == TARGET_EXISTING);
	}
	world_expect_external(world, EV_THREAD_EXEC, task);
	check_counts(world);
}

void world_exit_begin(struct world *world, uint32_t cpu)
{
	struct world_task *task = world->on_cpu[cpu];

	begin_on(world, "exit begin", cpu);
	exit_begin(NULL, &task->task);
	if (task->is_traced) {
		task->exit_path = task->path;
		task->has_exit_stack = true;
		world_expect_frames(world, cpu, task->path, false);
	}
	check_counts(world);
}

static void expect_space_end(struct world *world, uint32_t cpu, uint32_t pid)
{
	const struct ev_space_exit *e = world_expect(world, cpu, EV_SPACE_EXIT, 0);

	world_require(world, e->pid == pid && !e->reserved);
}

void world_exit(struct world *world, uint32_t cpu, bool has_memory)
{
	struct world_task *task = world->on_cpu[cpu];
	bool is_first = !task->is_exiting, is_last = !--task->task.signal->live.counter;

	begin_on(world, "exit", cpu);
	world_require(world, is_first);
	task->is_exiting = true;
	/* Who is not traced yet has no memory any more when its slices end. */
	if (task->is_traced && !task->has_exit_stack) {
		task->exit_path = has_memory ? task->path : WORLD_PATHS;
		task->has_exit_stack = true;
	}
	if (!has_memory)
		task->task.mm = NULL;
	sched_process_exit(NULL, &task->task);
	task->task.mm = NULL;
	task->task.files = NULL;
	world_go_to_path(task);
	if (task->is_traced && has_memory)
		world_expect_frames(world, cpu, task->path, false);
	if (task->is_traced && is_last)
		expect_space_end(world, cpu, task->task.tgid);
	check_counts(world);
}

/* Who takes the name that it has says that its process has made an area of events. */
static void expect_announced(struct world *world, uint32_t cpu, const struct world_task *task)
{
	const struct ev_user_announced *e = world_expect(world, cpu, EV_USER_ANNOUNCED, task->number);

	world_require(world, e->pid == (uint32_t)task->task.tgid);
}

void world_rename(struct world *world, uint32_t cpu, const char *name)
{
	struct world_task *task = world->on_cpu[cpu];
	const struct ev_thread_name *e;
	char padded[16] = "";
	bool is_same;

	begin_on(world, "rename", cpu);
	strncpy(padded, name, sizeof(padded) - 1);
	is_same = !memcmp(task->task.comm, padded, sizeof(padded));
	task_rename(NULL, &task->task, name);
	memcpy(task->task.comm, padded, sizeof(padded));
	if (task->is_traced) {
		e = world_expect(world, cpu, EV_THREAD_NAME, task->number);
		world_require(world, !memcmp(e->name, padded, sizeof(padded)));
		if (is_same)
			expect_announced(world, cpu, task);
	}
	world_expect_external(world, EV_THREAD_NAME, task);
	check_counts(world);
}

void world_sample(struct world *world, uint32_t cpu, bool in_kernel, bool by_tick)
{
	const struct world_task *task = world->on_cpu[cpu];
	struct bpf_perf_event_data ctx = { .regs.ip = in_kernel ? 0xffffffff81000000 : 0x401234 };

	begin_on(world, "sample", cpu);
	world_interrupt_kernel(in_kernel ? ctx.regs.ip : 0);
	if (by_tick)
		shim_expire_timers(&ctx.regs);
	else
		shim_expire_our_timer(&ctx);
	if (task->is_traced)
		world_expect_sample(world, cpu, task, in_kernel ? ctx.regs.ip : 0, shim_now_ns - SHIM_TICK_LATE_NS);
	world_require(world, !shim_read(&sample_rings, cpu, NULL));
	world_interrupt_kernel(0);
	check_counts(world);
}

/* What the record of a switch must say, and which others must have come with it. */
static void check_switch(struct world *world, uint32_t cpu, struct world_task *prev, struct world_task *next,
			 enum switch_state reason)
{
	const struct ev_sched_switch *e = &world->last_switch;
	uint32_t out = prev->is_traced ? prev->number : 0;
	struct world_task *rival = !out ? prev : next->is_traced ? NULL : next;

	if (rival && (rival->is_idle || (out && reason != SWITCH_RUNNABLE)))
		rival = NULL;
	if (rival)
		world_expect_other(world, cpu, rival);
	world->turns_left[cpu] = out && rival ? 256 : 0;
	world->last_switch = *(const struct ev_sched_switch *)world_expect(world, cpu, EV_SCHED_SWITCH, out);
	world_require(world, e->next == (next->is_traced ? next->number : 0));
	world_require(world, e->state == (out ? reason : SWITCH_RUNNABLE));
	world_require(world, e->cpu == cpu);
	if (out && reason != SWITCH_RUNNABLE && reason != SWITCH_DEAD)
		world_check_wait(world, cpu, prev, e);
	else
		world_check_no_wait(world, rival, e);
	if (out)
		world_check_switch_stack(world, cpu, prev, e);
	else
		world_require(world, !e->flags && !e->stack && !e->keep);
}

/* A switch between two that are not traced. */
static void check_turn(struct world *world, uint32_t cpu, struct world_task *prev, const struct world_task *next)
{
	const struct ev_sched_switch *e;

	if (!world->turns_left[cpu] && !world->options.tells_system)
		return;
	world->turns_left[cpu] = next->is_idle ? 0 : world->turns_left[cpu] - 1;
	if (!prev->is_idle)
		world_expect_other(world, cpu, prev);
	e = world_expect(world, cpu, EV_SCHED_SWITCH, 0);
	world_require(world, !e->next && e->cpu == cpu && e->syscall == SYSCALL_NONE);
	world_require(world, e->state == SWITCH_RUNNABLE && !e->flags && !e->stack && !e->keep);
	world_require(world, e->value == (uint32_t)prev->task.pid);
	world_require(world, e->object == (uint32_t)next->task.pid);
}

/* The tracepoint, and all that must follow. The task's state is as it is at that moment. */
static void do_switch(struct world *world, uint32_t cpu, bool preempt, uint32_t prev_state, enum switch_state reason,
		      struct world_task *next)
{
	struct world_task *prev = world->on_cpu[cpu];

	if (!next)
		next = &world->idle[cpu];
	if (next == prev)
		return;
	begin_on(world, world->what, cpu);
	world_require(world, next->place == PLACE_READY || next->is_idle);
	sched_switch(NULL, preempt, &prev->task, &next->task, prev_state);
	if (prev->is_traced || next->is_traced)
		check_switch(world, cpu, prev, next, reason);
	else
		check_turn(world, cpu, prev, next);
	world_check_external_switch(world, prev, next, reason);

	prev->place = reason == SWITCH_RUNNABLE ? PLACE_READY : reason == SWITCH_DEAD ? PLACE_DEAD : PLACE_BLOCKED;
	prev->task.on_cpu = 0;
	if (prev->is_traced && reason != SWITCH_RUNNABLE)
		model_change(&world->model, world->now_ns, -1, -(reason == SWITCH_DEAD));
	next->place = PLACE_ON_CPU;
	next->task.on_cpu = 1;
	next->cpu = cpu;
	next->slice_begin_ns = world->now_ns;
	next->task.se.cfs_rq = shim_queue(cpu);
	world->on_cpu[cpu] = next;
	shim_current = &next->task;
	if (!next->is_idle) {
		next->path = (next->path + 7) % WORLD_PATHS;
		world_go_to_path(next);
	}
	/* A process's first task stays, dead, until the last of its threads is gone. */
	if (reason == SWITCH_DEAD && !is_process(prev))
		shim_free_task(&prev->task);
	check_counts(world);
}

/* include/linux/sched.h, and what a user calls such a sleep. */
static enum switch_state sleep_reason(uint32_t state)
{
	switch (state) {
	case 0x0001: /* TASK_INTERRUPTIBLE */
	case 0x2001: /* ... | TASK_FREEZABLE */
		return SWITCH_SLEEPING;
	case 0x0004: /* __TASK_STOPPED */
	case 0x0008: /* __TASK_TRACED */
	case 0x0104: /* TASK_STOPPED before 5.19: ... | TASK_WAKEKILL */
		return SWITCH_STOPPED;
	default: /* uninterruptible, killable, idle, parked, frozen, a lock of RT */
		return SWITCH_BLOCKED;
	}
}

void world_sleep(struct world *world, uint32_t cpu, uint32_t state, struct world_task *next)
{
	struct world_task *task = world->on_cpu[cpu];

	world->what = "sleep";
	world_require(world, !task->is_idle && next != task);
	task->task.__state = state;
	do_switch(world, cpu, false, state, sleep_reason(state), next);
}

void world_leave(struct world *world, uint32_t cpu, enum leave why, struct world_task *next)
{
	static const char *const names[LEAVE_COUNT] = {
		"preempted",
		"yields",
		"signal pending",
		"woken meanwhile",
		"requeued meanwhile",
		"preempted going to sleep",
		"dies",
	};
	struct world_task *task = world->on_cpu[cpu];

	world->what = names[why];
	if (next == task || (!next && task->is_idle))
		return;
	switch (why) {
	case LEAVE_PREEMPTED:
		do_switch(world, cpu, true, 0, SWITCH_RUNNABLE, next);
		break;
	case LEAVE_YIELDS:
		do_switch(world, cpu, false, 0, SWITCH_RUNNABLE, next);
		break;
	case LEAVE_SIGNAL_PENDING:
		task->task.__state = 0;
		do_switch(world, cpu, false, 1, SWITCH_RUNNABLE, next);
		break;
	case LEAVE_WOKEN_MEANWHILE:
	case LEAVE_REQUEUED_MEANWHILE:
		task->task.__state = 0x2002;
		shim_cpu = (cpu + 1) % world->options.cpu_count;
		sched_waking(NULL, &task->task);
		task->task.__state = why == LEAVE_WOKEN_MEANWHILE ? TASK_WAKING : 0;
		do_switch(world, cpu, false, 0x2002, SWITCH_RUNNABLE, next);
		task->task.__state = 0;
		break;
	case LEAVE_PREEMPTED_GOING_TO_SLEEP:
		task->task.__state = 1;
		do_switch(world, cpu, true, 1, SWITCH_RUNNABLE, next);
		break;
	case LEAVE_DEAD:
		task->task.__state = TASK_DEAD;
		do_switch(world, cpu, false, TASK_DEAD, SWITCH_DEAD, next);
		break;
	default:
		break;
	}
}

/* The kernel's count of what the CPU is in, and of what it must not do meanwhile. */
static int preempt_count_in(const struct world *world, enum wake_context context)
{
	enum {
		PREEMPTION_OFF = 1,
		SOFTIRQ = 1 << 8,
		SOFTIRQS_OFF = 2 << 8,
		HARDIRQ = 1 << 16,
		NMI = 1 << 20,
		NOT_TO_BE_PREEMPTED = INT32_MIN,
	};
	uint64_t step = world->step;
	int count = step % 3 * PREEMPTION_OFF | (step % 2 ? NOT_TO_BE_PREEMPTED : 0);

	switch (context) {
	case WAKE_HARDIRQ:
		return count | (step % 5 ? 0 : SOFTIRQ) | (step % 7 ? HARDIRQ : NMI);
	case WAKE_SOFTIRQ:
		return count | SOFTIRQ;
	default:
		return count | step % 4 * SOFTIRQS_OFF;
	}
}

void world_wake_in(struct world *world, uint32_t waker_cpu, struct world_task *task, enum wake_context context)
{
	struct world_task *waker = world->on_cpu[waker_cpu];
	const struct ev_sched_wake *e = &world->last_wake;
	bool is_blocked = task->place == PLACE_BLOCKED, has_stacks;

	begin_on(world, is_blocked ? "wake" : "wake of one that is awake", waker_cpu);
	shim_set_preempt_count(waker_cpu, preempt_count_in(world, context));
	sched_waking(NULL, &task->task);
	shim_set_preempt_count(waker_cpu, 0);
	if (is_blocked) {
		if (task->is_traced) {
			world_expect_waker(world, waker_cpu, waker, context);
			world->last_wake = *(const struct ev_sched_wake *)world_expect(world, waker_cpu, EV_SCHED_WAKE,
										       task->number);
			has_stacks = world_check_waker(world, waker, context, e);
			world_check_wake_stacks(world, waker_cpu, has_stacks ? waker : NULL, task, e);
			model_change(&world->model, world->now_ns, 1, 0);
		}
		world->waker = waker;
		world_expect_external(world, EV_SCHED_WAKE, task);
		task->place = PLACE_READY;
	}
	task->task.__state = 0;
	check_counts(world);
}

void world_wake(struct world *world, uint32_t waker_cpu, struct world_task *task)
{
	world_wake_in(world, waker_cpu, task, WAKE_THREAD);
}

void world_visit(struct world *world, uint32_t cpu, struct world_task *task)
{
	struct bpf_iter__task ctx = { .task = &task->task };

	begin_on(world, "visit", cpu);
	list_threads(&ctx);
	if (!task->is_traced && task->place != PLACE_DEAD && is_wanted(world, task))
		trace(world, task);
	if (task->is_traced && task->place != PLACE_DEAD)
		check_found(world, cpu, task);
	if (task->place != PLACE_DEAD)
		world_expect_external(world, EV_THREAD_FOUND, task);
	check_counts(world);
}
