/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is traced: commands from their exec on, children, execs by other threads than the
 * first, exits, and the limits. The rules over random lives are in bpf_schedule_test.c.
 */
#include "test.h"
#include "world.h"

#include <errno.h>

static struct world world;

static void begin(const struct world_options *options)
{
	struct world_options with_cpus = options ? *options : (struct world_options){ 0 };

	with_cpus.cpu_count = 2;
	with_cpus.begin_ns = 1000000;
	world_init(&world, &with_cpus);
}

static void end(void)
{
	world_fini(&world);
}

static struct world_task *add_running(struct world_task *leader, uint32_t cpu)
{
	struct world_task *task = world_add_task(&world, leader);

	world_wake(&world, cpu, task);
	world_leave(&world, cpu, LEAVE_PREEMPTED, task);
	return task;
}

TEST(a_command_is_traced_from_its_exec_on)
{
	struct world_task *task, *child;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXEC);
	world_visit(&world, 1, task);
	world_rename(&world, 0, "before");
	child = world_fork(&world, 0, true);
	CHECK(!shim_thread(&task->task) && !shim_thread(&child->task) && !threads_alive);
	world_sleep(&world, 0, 1, NULL);
	world_wake(&world, 0, task);
	world_leave(&world, 0, LEAVE_PREEMPTED, task);
	CHECK(!threads_alive && !active_count());

	world_exec(&world, 0);
	CHECK(task->is_traced);
	CHECK_EQUAL(threads_alive, 1);
	CHECK_EQUAL(active_count(), 1);
	world_pass(&world, 1000000);
	child = world_fork(&world, 0, false);
	CHECK(child->is_traced);
	CHECK_EQUAL(threads_alive, 2);
	world_exec(&world, 0);
	world_sleep(&world, 0, 1, NULL);
	/* Its slice began at the exec. */
	CHECK_EQUAL(world.slices, 1);
	end();
}

TEST(an_exec_of_somebody_else_is_not_traced)
{
	struct world_task *task;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid + 1, TARGET_EXEC);
	world_exec(&world, 0);
	CHECK(!shim_thread(&task->task) && !threads_alive);
	end();
}

TEST(a_thread_that_execs_takes_over_the_id_of_its_process)
{
	struct world_task *leader, *thread;

	begin(NULL);
	leader = add_running(NULL, 0);
	shim_set_target(leader->task.pid, TARGET_EXISTING);
	world_visit(&world, 1, leader);
	thread = world_fork(&world, 0, true);
	/* The kernel ends the others, the first thread last, then gives its ids to the caller. */
	world_exit(&world, 0, true);
	world_leave(&world, 0, LEAVE_DEAD, thread);
	CHECK_EQUAL(threads_alive, 1);
	thread->task.pid = leader->task.pid;
	thread->task.group_leader = &thread->task;
	shim_free_task(&leader->task);
	world_exec(&world, 0);
	CHECK_EQUAL(thread->number, 2);
	CHECK_EQUAL(threads_alive, 1);
	CHECK_EQUAL(active_count(), 1);
	CHECK_EQUAL(threads_born, 2);
	end();
}

TEST(the_stack_at_exit_stands_for_the_last_slices)
{
	struct world_task *task;
	uint64_t stack;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 1, task);
	world_exit(&world, 0, true);
	stack = world.paths[task->path].id;
	CHECK(stack);
	shim_stacks_asked = 0;
	world_sleep(&world, 0, 2, NULL); /* waits for a lock while it exits */
	CHECK_EQUAL(world.last_switch.stack, stack);
	CHECK_EQUAL(world.last_switch.flags, SWITCH_HAS_STACK);
	world_wake(&world, 1, task);
	world_leave(&world, 0, LEAVE_PREEMPTED, task);
	world_pass(&world, 1000000);
	world_leave(&world, 0, LEAVE_DEAD, NULL);
	CHECK_EQUAL(world.last_switch.stack, stack);
	CHECK_EQUAL(world.last_switch.flags, SWITCH_HAS_STACK);
	CHECK_EQUAL(world.last_switch.state, SWITCH_DEAD);
	CHECK(!shim_stacks_asked);
	end();
}

TEST(where_the_memory_is_gone_at_exit_the_stack_is_unreadable)
{
	struct world_task *task;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 1, task);
	shim_stacks_asked = 0;
	world_exit(&world, 0, false);
	world_leave(&world, 0, LEAVE_DEAD, NULL);
	CHECK_EQUAL(world.last_switch.flags, SWITCH_HAS_STACK);
	CHECK(!world.last_switch.stack);
	CHECK(!shim_stacks_asked);
	end();
}

TEST(where_the_memory_is_gone_at_exit_the_stack_is_taken_when_the_exit_begins)
{
	struct world_task *task;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 1, task);
	world_exit_begin(&world, 0);
	shim_stacks_asked = 0;
	world_exit(&world, 0, false);
	world_leave(&world, 0, LEAVE_DEAD, NULL);
	CHECK_EQUAL(world.last_switch.state, SWITCH_DEAD);
	CHECK(world.last_switch.stack);
	CHECK(!shim_stacks_asked);
	end();
}

TEST(processes_only_follows_children_of_processes_that_are_not_listed_yet)
{
	struct world_options options = { .processes_only = true };
	struct world_task *leader, *thread;

	begin(&options);
	leader = world_add_task(&world, NULL);
	shim_set_target(leader->task.pid, TARGET_EXISTING);
	thread = add_running(leader, 0);
	CHECK(world_fork(&world, 0, false)->is_traced);
	CHECK(!world_fork(&world, 0, true)->is_traced);
	world_visit(&world, 1, thread);
	CHECK(!thread->is_traced);
	end();
}

TEST(threads_only_does_not_follow_into_children)
{
	struct world_options options = { .threads_only = true };
	struct world_task *task;

	begin(&options);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	CHECK(world_fork(&world, 0, true)->is_traced); /* not listed yet */
	CHECK(!world_fork(&world, 0, false)->is_traced);
	world_visit(&world, 1, task);
	CHECK(world_fork(&world, 0, true)->is_traced);
	CHECK(!world_fork(&world, 0, false)->is_traced);
	end();
}

TEST(trace_all_leaves_out_the_kernel_s_threads_and_pinch)
{
	struct world_options options = { .trace_all = true, .own_pid = 101 };
	struct world_task *pinch, *kernel, *other;

	begin(&options);
	pinch = add_running(NULL, 0);
	CHECK_EQUAL((uint32_t)pinch->task.pid, options.own_pid);
	world_visit(&world, 1, pinch);
	CHECK(!pinch->is_traced && !world_fork(&world, 0, true)->is_traced);
	/* What pinch starts is not pinch. */
	CHECK(world_fork(&world, 0, false)->is_traced);
	kernel = add_running(NULL, 1);
	kernel->task.flags = PF_KTHREAD;
	world_visit(&world, 1, kernel);
	CHECK(!kernel->is_traced && !world_fork(&world, 1, false)->is_traced);
	other = world_add_task(&world, NULL);
	world_visit(&world, 1, other);
	CHECK(other->is_traced);
	end();
}

TEST(a_thread_without_memory_for_its_state_is_counted_not_traced)
{
	struct world_task *task, *child;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	shim_storage_fails = true;
	sched_process_fork(NULL, &task->task, &world_add_task(&world, task)->task);
	CHECK_EQUAL(threads_untracked, 1);
	CHECK(!threads_alive && !active_count());
	list_threads(&(struct bpf_iter__task){ .task = &task->task });
	CHECK_EQUAL(threads_untracked, 2);
	CHECK(!threads_alive);
	CHECK(!shim_read(&rings, 0, NULL) && !shim_read(&rings, 1, NULL));
	shim_storage_fails = false;
	world_visit(&world, 1, task);
	CHECK(task->is_traced);
	CHECK_EQUAL(task->number, 1);

	shim_storage_fails = true;
	child = world_add_task(&world, NULL);
	shim_set_target(child->task.pid, TARGET_EXEC);
	sched_process_exec(NULL, &child->task, child->task.pid, NULL);
	CHECK_EQUAL(threads_untracked, 3);
	CHECK_EQUAL(threads_alive, 1);
	CHECK_EQUAL(shim_target(child->task.pid), TARGET_EXEC);
	end();
}

/* Whether a process that has this name, and whose program's file has that one, is traced after its exec. */
static bool is_taken(const char *name, const char *file_name)
{
	struct dentry dentry = { .d_name.name = (const unsigned char *)file_name };
	struct file file = { .f_path.dentry = &dentry };
	struct linux_binprm program = { .file = &file };
	struct world_task *task = world_add_task(&world, NULL);

	snprintf(task->task.comm, sizeof(task->task.comm), "%s", name);
	shim_current = &task->task;
	sched_process_exec(NULL, &task->task, task->task.pid, &program);
	return shim_thread(&task->task);
}

TEST(who_executes_a_program_under_an_awaited_name_is_traced_from_then_on)
{
	static const char long_name[] = "a-program-with-a-name-of-more-than-fifteen-letters";
	struct awaited_name *names = (struct awaited_name *)awaited_names;

	begin(NULL);
	memset(names, 0, AWAITED_MAX * sizeof(*names));
	memcpy(&names[0], "server", 6);
	memcpy(&names[AWAITED_MAX - 1], long_name, strlen(long_name));
	CHECK(!is_taken("server", "server")); /* none is awaited */
	shim_set_option(awaits_names, true);
	CHECK(is_taken("server", "python3"));
	CHECK(is_taken("main", "server"));
	CHECK(is_taken("a-program-with-", long_name));
	CHECK(!is_taken("a-program-with-", "a-program-with-another-name"));
	CHECK(!is_taken("serve", "serve"));
	CHECK(!is_taken("servers", "servers"));
	CHECK(!is_taken("", ""));
	CHECK_EQUAL(threads_alive, 3);
	shim_set_option(own_pid, world.pids_given + 1);
	CHECK(!is_taken("server", "server"));
	end();
}

TEST(more_threads_than_can_be_counted_are_refused)
{
	struct world_task *task;
	struct task_struct *children;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 1, task);
	shim_registers = NULL; /* they are no tasks of the world's */
	children = calloc(THREADS_ACTIVE_MAX + 1, sizeof(*children));
	for (uint32_t i = 0; i < THREADS_ACTIVE_MAX + 1; i++) {
		children[i] = task->task;
		children[i].pid = 1000 + i;
		sched_process_fork(NULL, &task->task, &children[i]);
	}
	CHECK_EQUAL(threads_alive, THREADS_ACTIVE_MAX);
	CHECK_EQUAL(active_count(), THREADS_ACTIVE_MAX);
	CHECK_EQUAL(threads_untracked, 2);
	CHECK_EQUAL(threads_born, THREADS_ACTIVE_MAX);

	/* The integral holds as many: a second later, 65535 seconds of activity. */
	CHECK_EQUAL((active_integral(activity, shim_now_ns + 1000000000) - active_integral(activity, shim_now_ns)) &
			    INTEGRAL_MASK,
		    THREADS_ACTIVE_MAX * 1000000000ull);

	children[0].__state = TASK_DEAD;
	sched_switch(NULL, false, &children[0], &world.idle[0].task, TASK_DEAD);
	sched_process_fork(NULL, &task->task, &children[THREADS_ACTIVE_MAX]);
	CHECK_EQUAL(threads_alive, THREADS_ACTIVE_MAX);
	CHECK_EQUAL(threads_untracked, 2);
	free(children);
	end();
}

TEST(a_thread_in_a_container_has_both_its_ids)
{
	struct {
		struct pid pid;
		struct upid more[40];
	} nested = { .pid.level = 2 };
	const struct ev_thread_found *e;
	struct world_task *task;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	task->task.thread_pid = &nested.pid;
	nested.pid.numbers[0].nr = task->task.pid;
	nested.more[0].nr = 50;
	nested.more[1].nr = 7;
	list_threads(&(struct bpf_iter__task){ .task = &task->task });
	e = (const struct ev_thread_found *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e->tid, (uint32_t)task->task.pid);
	CHECK_EQUAL(e->ns_tid, 7);
	CHECK_EQUAL(e->ns_pid, 7);
	nested.pid.level = 33; /* no kernel nests so deep: not to be believed */
	list_threads(&(struct bpf_iter__task){ .task = &task->task });
	e = (const struct ev_thread_found *)shim_read(&rings, 0, NULL);
	CHECK_EQUAL(e->tid, (uint32_t)task->task.pid);
	CHECK(!e->ns_tid);
	end();
}

/*
 * An exec names the thread after the program's file, which may be longer; what follows it in
 * memory is nobody's business.
 */
TEST(a_name_is_cut_to_fifteen_letters_and_nothing_behind_it_is_read)
{
	static const char short_name[32] = "ls\0secret";
	struct world_task *task;

	begin(NULL);
	task = add_running(NULL, 0);
	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 1, task);
	world_rename(&world, 0, "a_program_with_a_long_name");
	CHECK_STRING(task->task.comm, "a_program_with_");
	world_rename(&world, 0, short_name);
	end();
}

TEST(the_iterator_s_end_is_no_task)
{
	begin(NULL);
	CHECK(!list_threads(&(struct bpf_iter__task){ .task = NULL }));
	end();
}
