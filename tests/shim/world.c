// SPDX-License-Identifier: GPL-2.0-or-later
#include "world.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
	RING_BYTES = 1 << 20,
	SLOTS = 256,
	SLACK_THREAD_NS = 4096,
	SLACK_SHIFT = 9,
	LONG_SLICE_SHIFT = 32,
};

void world_check(const struct world *world, bool is_so, const char *claim, const char *file,
		 int line)
{
	if (is_so)
		return;
	print_error("not so: %s\n  in %s, step %lu of seed %lu\n", claim,
		    world->what ? world->what : "the beginning", world->step, world->seed);
	_fail(file, line);
}

/* --- Records that must have come -------------------------------------------------------- */

static const void *expect(struct world *world, uint32_t cpu, enum event_id id, uint32_t thread)
{
	const struct ev_header *header = shim_read(&rings, cpu, NULL);

	world_require(world, header);
	world_require(world, header->subsys == id >> 16 && header->event == (id & 0xffff));
	world_require(world, header->thread == thread);
	world_require(world, header->time_ns == shim_now_ns);
	return header;
}

static uint64_t path_frame(uint32_t path, uint32_t i)
{
	return 0x400000 + path * 0x1000 + i * 16;
}

/* Paths 8 and 16 apart share their frames but for their number. */
static uint32_t path_length(uint32_t path)
{
	return 1 + path / 8 * 3;
}

static void set_stack(const struct world_task *task)
{
	shim_user_stack.count = task->task.mm ? (long)path_length(task->path) : -EFAULT;
	for (uint32_t i = 0; i < path_length(task->path); i++)
		shim_user_stack.frames[i] = path_frame(task->path % 8, i);
}

static void expect_frames(struct world *world, uint32_t cpu, uint32_t path)
{
	const struct ev_stack_frames *e;

	if (world->path_ids[path])
		return;
	e = expect(world, cpu, EV_STACK_FRAMES, 0);
	world_require(world, e->stack);
	world_require(world, !e->kernel_count && e->user_count == path_length(path));
	for (uint32_t i = 0; i < e->user_count; i++)
		world_require(world, e->frames[i] == path_frame(path % 8, i));
	for (uint32_t other = 0; other < WORLD_PATHS; other++)
		world_require(world, world->path_ids[other] != e->stack);
	world->path_ids[path] = e->stack;
}

static void check_counts(struct world *world)
{
	uint64_t integral = (active_integral(activity, shim_now_ns) - world->integral_base) & INTEGRAL_MASK;

	for (uint32_t cpu = 0; cpu < world->options.cpu_count; cpu++)
		world_require(world, !shim_read(&rings, cpu, NULL));
	world_require(world, !shim_records_open());
	world_require(world, active_count() == world->model.active);
	world_require(world, threads_alive == (uint64_t)world->model.alive);
	world_require(world, integral == (uint64_t)(model_active_between(&world->model, 0,
					world->now_ns) & INTEGRAL_MASK));
	world->step++;
}

static void begin_on(struct world *world, const char *what, uint32_t cpu)
{
	world->what = what;
	shim_cpu = cpu;
	shim_current = &world->on_cpu[cpu]->task;
	set_stack(world->on_cpu[cpu]);
}

/* --- Making tasks ------------------------------------------------------------------------ */

static void init_task(struct world *world, struct world_task *task, struct world_task *leader)
{
	task->task.pid = ++world->pids_given;
	task->task.tgid = leader ? leader->task.tgid : task->task.pid;
	task->task.group_leader = leader ? &leader->task : &task->task;
	task->task.thread_pid = &task->pid;
	task->task.mm = &task->mm;
	task->task.signal = leader ? leader->task.signal : &task->signal;
	task->task.signal->live.counter++;
	task->task.start_boottime = 1000 + world->pids_given;
	task->pid.level = 0;
	task->pid.numbers[0].nr = task->task.pid;
	snprintf(task->task.comm, sizeof(task->task.comm), "task%u", world->pids_given);
	task->path = world->pids_given % WORLD_PATHS;
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
	keep_all_above_ns = options->keep_all_above_ns;
	world->integral_base = active_integral(activity, shim_now_ns);
	for (uint32_t cpu = 0; cpu < options->cpu_count; cpu++) {
		struct world_task *idle = &world->idle[cpu];

		idle->is_idle = true;
		idle->place = PLACE_ON_CPU;
		idle->task.flags = PF_KTHREAD;
		idle->task.group_leader = &idle->task;
		idle->task.thread_pid = &idle->pid;
		world->on_cpu[cpu] = idle;
	}
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

static bool is_child_wanted(const struct world *world, const struct world_task *parent,
			    const struct world_task *child)
{
	const struct world_task *leader = (struct world_task *)parent->task.group_leader;
	bool is_parent_traced = parent->is_traced || is_wanted(world, parent);
	bool is_leader_traced = leader->is_traced || is_wanted(world, leader);

	if (child->task.flags & PF_KTHREAD ||
	    (uint32_t)child->task.tgid == world->options.own_pid)
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
	child = world_add_task(world, is_thread ? (struct world_task *)parent->task.group_leader
						: NULL);
	child->task.flags = parent->task.flags;
	child->task.__state = 0x800;		/* TASK_NEW */
	child->place = PLACE_READY;
	sched_process_fork(NULL, &parent->task, &child->task);
	if (is_child_wanted(world, parent, child)) {
		trace(world, child);
		e = expect(world, cpu, EV_THREAD_BORN, child->number);
		world_require(world, e->parent == parent->number && !e->reserved);
		world_require(world, e->tid == (uint32_t)child->task.pid);
		world_require(world, e->pid == (uint32_t)child->task.tgid);
		world_require(world, e->ns_tid == e->tid && e->ns_pid == e->pid);
		world_require(world, e->start_ns == child->task.start_boottime);
		world_require(world, !strcmp(e->name, child->task.comm));
	}
	child->task.__state = 0;
	check_counts(world);
	return child;
}

static void expect_found(struct world *world, uint32_t cpu, const struct world_task *task)
{
	static const uint8_t phases[] = { [PLACE_BLOCKED] = PHASE_BLOCKED,
					  [PLACE_READY] = PHASE_RUNNABLE,
					  [PLACE_ON_CPU] = PHASE_RUNNING };
	const struct ev_thread_found *e = expect(world, cpu, EV_THREAD_FOUND, task->number);

	world_require(world, e->tid == (uint32_t)task->task.pid && !e->parent && !e->reserved);
	world_require(world, e->pid == (uint32_t)task->task.tgid);
	world_require(world, e->ns_tid == e->tid && e->ns_pid == e->pid);
	world_require(world, e->phase == phases[task->place]);
	world_require(world, !strcmp(e->name, task->task.comm));
}

void world_exec(struct world *world, uint32_t cpu)
{
	struct world_task *task = world->on_cpu[cpu];
	uint32_t kind = shim_target(task->task.tgid);
	const struct ev_thread_exec *e;

	begin_on(world, "exec", cpu);
	snprintf(task->task.comm, sizeof(task->task.comm), "exec%lu", world->step);
	sched_process_exec(NULL, &task->task);
	if (task->is_traced) {
		e = expect(world, cpu, EV_THREAD_EXEC, task->number);
		world_require(world, e->tid == (uint32_t)task->task.pid && !e->reserved);
		world_require(world, !strcmp(e->name, task->task.comm));
	} else if (kind == TARGET_EXEC) {
		trace(world, task);
		expect_found(world, cpu, task);
		world_require(world, shim_target(task->task.tgid) == TARGET_EXISTING);
	}
	check_counts(world);
}

void world_exit_begin(struct world *world, uint32_t cpu)
{
	struct world_task *task = world->on_cpu[cpu];

	begin_on(world, "exit begin", cpu);
	exit_begin(NULL, &task->task);
	if (task->is_traced) {
		task->exit_path = task->path;
		task->has_exit_path = true;
		expect_frames(world, cpu, task->path);
	}
	check_counts(world);
}

static void expect_space_end(struct world *world, uint32_t cpu, uint32_t pid)
{
	const struct ev_space_exit *e = expect(world, cpu, EV_SPACE_EXIT, 0);

	world_require(world, e->pid == pid && !e->reserved);
}

void world_exit(struct world *world, uint32_t cpu, bool has_memory)
{
	struct world_task *task = world->on_cpu[cpu];
	bool is_first = !task->is_exiting, is_last = !--task->task.signal->live.counter;

	begin_on(world, "exit", cpu);
	world_require(world, is_first);
	task->is_exiting = true;
	/* Not traced yet: its memory will be gone when its slices end. */
	if (!task->has_exit_path)
		task->exit_path = has_memory && task->is_traced ? task->path : UINT32_MAX;
	if (!has_memory)
		task->task.mm = NULL;
	sched_process_exit(NULL, &task->task);
	task->task.mm = NULL;
	if (task->is_traced && has_memory)
		expect_frames(world, cpu, task->path);
	if (task->is_traced && is_last)
		expect_space_end(world, cpu, task->task.tgid);
	check_counts(world);
}

void world_rename(struct world *world, uint32_t cpu, const char *name)
{
	struct world_task *task = world->on_cpu[cpu];
	const struct ev_thread_name *e;
	char padded[16] = "";

	begin_on(world, "rename", cpu);
	strncpy(padded, name, sizeof(padded) - 1);
	task_rename(NULL, &task->task, name);
	memcpy(task->task.comm, padded, sizeof(padded));
	if (task->is_traced) {
		e = expect(world, cpu, EV_THREAD_NAME, task->number);
		world_require(world, !memcmp(e->name, padded, sizeof(padded)));
	}
	check_counts(world);
}

void world_sample(struct world *world, uint32_t cpu, bool in_kernel, bool by_tick)
{
	const struct world_task *task = world->on_cpu[cpu];
	uint64_t limit = model_nmin_doubled(&world->model, world->model.alive);
	struct bpf_perf_event_data ctx = { .regs.ip = in_kernel ? 0xffffffff81000000 : 0x401234 };
	const struct ev_sched_sample *e;

	begin_on(world, "sample", cpu);
	shim_user_regs.ip = 0x405678;
	if (by_tick)
		shim_expire_timers(&ctx.regs);
	else
		sample_timer(&ctx);
	e = (const struct ev_sched_sample *)shim_read(&sample_rings, cpu, NULL);
	world_require(world, (e != NULL) == (task->is_traced &&
					     2 * (uint64_t)world->model.active <= limit));
	if (e) {
		world_require(world, e->header.thread == task->number);
		world_require(world, e->ip == (in_kernel ? 0x405678 : 0x401234));
		world_require(world, e->kernel_ip == (in_kernel ? ctx.regs.ip : 0));
	}
	shim_user_regs.ip = 0;
	check_counts(world);
}

/* What the slice that ends now was worth, against what the record says of its stack. */
static void check_stack(struct world *world, uint32_t cpu, const struct world_task *prev,
			const struct ev_sched_switch *e)
{
	uint64_t begin_ns = prev->slice_begin_ns, end_ns = world->now_ns;
	uint64_t length_ns = end_ns - begin_ns, threshold_ns = world->options.keep_all_above_ns;
	model_integral integral = model_active_between(&world->model, begin_ns, end_ns);
	model_integral limit = (model_integral)length_ns *
			       model_nmin_doubled(&world->model, world->model.alive);
	bool is_critical = model_is_critical(&world->model, begin_ns, end_ns);
	double weight_ns = length_ns ? (double)length_ns * length_ns / integral : 0, part;
	uint64_t stack = e->stack;
	uint32_t keep = e->keep;
	uint8_t flags = e->flags;

	world->slices++;
	world->critical_slices += is_critical;
	world_require(world, flags == 0 || flags == SWITCH_HAS_STACK ||
			     flags == SWITCH_STACK_SKIPPED);
	if (is_critical)
		world_require(world, flags);
	if (flags && !is_critical) {
		world->generous_stacks++;
		world_require(world, length_ns >> LONG_SLICE_SHIFT ||
			2 * integral <= limit + (length_ns >> SLACK_SHIFT) + SLACK_THREAD_NS);
	}
	if (!threshold_ns)
		world_require(world, flags != SWITCH_STACK_SKIPPED);
	if (flags != SWITCH_HAS_STACK) {
		world_require(world, !stack && !keep);
		return;
	}
	/* The kernel knows the mean of n to a sixteenth. */
	part = threshold_ns ? weight_ns / threshold_ns : 1;
	if (part > 1.07)
		world_require(world, !keep);
	else if (keep && part * (1ull << 32) > 1 << 13)
		world_require(world, keep / part > (1ull << 32) * 0.93 &&
				     keep / part < (1ull << 32) * 1.07);
	if (prev->is_exiting && prev->exit_path == UINT32_MAX) {
		world_require(world, !stack);
		return;
	}
	expect_frames(world, cpu, prev->is_exiting ? prev->exit_path : prev->path);
	world_require(world,
		      stack == world->path_ids[prev->is_exiting ? prev->exit_path : prev->path]);
}

/* The tracepoint, and all that must follow. The task's state is as it is at that moment. */
static void do_switch(struct world *world, uint32_t cpu, bool preempt, uint32_t prev_state,
		      enum switch_state reason, struct world_task *next)
{
	struct world_task *prev = world->on_cpu[cpu];
	const struct ev_sched_switch *e;
	uint32_t out;

	if (!next)
		next = &world->idle[cpu];
	if (next == prev)
		return;
	begin_on(world, world->what, cpu);
	world_require(world, next->place == PLACE_READY || next->is_idle);
	sched_switch(NULL, preempt, &prev->task, &next->task, prev_state);
	out = prev->is_traced ? prev->number : 0;
	if (prev->is_traced || next->is_traced) {
		e = expect(world, cpu, EV_SCHED_SWITCH, out);
		world->last_switch = *e;
		world_require(world, e->next == (next->is_traced ? next->number : 0));
		world_require(world, e->state == (out ? reason : SWITCH_RUNNABLE));
		world_require(world, e->cpu == cpu && !e->reserved);
		if (out)
			check_stack(world, cpu, prev, &world->last_switch);
		else
			world_require(world, !e->flags && !e->stack && !e->keep);
	}

	prev->place = reason == SWITCH_RUNNABLE ? PLACE_READY :
		      reason == SWITCH_DEAD ? PLACE_DEAD : PLACE_BLOCKED;
	prev->task.on_cpu = 0;
	if (prev->is_traced && reason != SWITCH_RUNNABLE)
		model_change(&world->model, world->now_ns, -1, -(reason == SWITCH_DEAD));
	next->place = PLACE_ON_CPU;
	next->task.on_cpu = 1;
	next->cpu = cpu;
	next->slice_begin_ns = world->now_ns;
	world->on_cpu[cpu] = next;
	prev->path = (prev->path + 7) % WORLD_PATHS;
	/* A process's first task stays, dead, until the last of its threads is gone. */
	if (reason == SWITCH_DEAD && !is_process(prev))
		shim_free_task(&prev->task);
	check_counts(world);
}

/* include/linux/sched.h, and what a user calls such a sleep. */
static enum switch_state sleep_reason(uint32_t state)
{
	switch (state) {
	case 0x0001:		/* TASK_INTERRUPTIBLE */
	case 0x2001:		/* ... | TASK_FREEZABLE */
		return SWITCH_SLEEPING;
	case 0x0004:		/* __TASK_STOPPED */
	case 0x0008:		/* __TASK_TRACED */
	case 0x0104:		/* TASK_STOPPED before 5.19: ... | TASK_WAKEKILL */
		return SWITCH_STOPPED;
	default:		/* uninterruptible, killable, idle, parked, frozen, a lock of RT */
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
		"preempted", "yields", "signal pending", "woken meanwhile",
		"requeued meanwhile", "preempted going to sleep", "dies",
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

void world_wake(struct world *world, uint32_t waker_cpu, struct world_task *task)
{
	bool is_blocked = task->place == PLACE_BLOCKED;

	begin_on(world, is_blocked ? "wake" : "wake of one that is awake", waker_cpu);
	sched_waking(NULL, &task->task);
	if (is_blocked) {
		if (task->is_traced) {
			expect(world, waker_cpu, EV_SCHED_WAKE, task->number);
			model_change(&world->model, world->now_ns, 1, 0);
		}
		task->place = PLACE_READY;
	}
	task->task.__state = 0;
	check_counts(world);
}

void world_visit(struct world *world, uint32_t cpu, struct world_task *task)
{
	struct bpf_iter__task ctx = { .task = &task->task };

	begin_on(world, "visit", cpu);
	list_threads(&ctx);
	if (!task->is_traced && task->place != PLACE_DEAD && is_wanted(world, task))
		trace(world, task);
	if (task->is_traced && task->place != PLACE_DEAD)
		expect_found(world, cpu, task);
	check_counts(world);
}
