/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A traced thread on CPU 0 of two that comes to kernel locks, and what is recorded of them. */
#pragma once

#include "test.h"
#include "world.h"

enum {
	RECORDED_MAX = 16,
	CPUS = 2,
	SPINS = CONTENTION_SPINS,
	MUTEX_SPINS = CONTENTION_MUTEX | CONTENTION_SPINS,
	MUTEX_SLEEPS = CONTENTION_MUTEX,
	IN_SOFTIRQ = 1 << 8,
	IN_HARDIRQ = 1 << 16,
};

static struct world world;
static struct world_task *thread;

/* What the rings had since the last drain(). */
static struct ev_klock_wait waits[RECORDED_MAX];
static struct ev_klock_lock locks[RECORDED_MAX];
static struct ev_thread_other others[RECORDED_MAX];
static struct ev_sched_switch last_switch;
static struct ev_file_path last_path;
static struct ev_file_socket last_socket;
static uint64_t stacks[RECORDED_MAX];
static size_t wait_count, lock_count, other_count, stack_count, file_count;

/* Locks that are of nothing that is known, far enough inside that an inode may be looked for around them. */
static struct {
	uint64_t before[512];
	uint64_t lock[8];
	uint64_t after[512];
} plain;

static inline void take_record(const struct ev_header *header, size_t bytes)
{
	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_KLOCK_WAIT:
		CHECK_EQUAL(bytes, sizeof(*waits));
		CHECK_THAT(wait_count, <, RECORDED_MAX);
		waits[wait_count++] = *(const struct ev_klock_wait *)header;
		break;
	case EV_KLOCK_LOCK:
		CHECK_EQUAL(bytes, sizeof(*locks));
		CHECK_THAT(lock_count, <, RECORDED_MAX);
		locks[lock_count++] = *(const struct ev_klock_lock *)header;
		break;
	case EV_THREAD_OTHER:
		CHECK_THAT(other_count, <, RECORDED_MAX);
		others[other_count++] = *(const struct ev_thread_other *)header;
		break;
	case EV_STACK_FRAMES:
		CHECK_THAT(stack_count, <, RECORDED_MAX);
		stacks[stack_count++] = ((const struct ev_stack_frames *)header)->stack;
		break;
	case EV_SCHED_SWITCH:
		last_switch = *(const struct ev_sched_switch *)header;
		break;
	case EV_FILE_PATH:
		last_path = *(const struct ev_file_path *)header;
		file_count++;
		break;
	case EV_FILE_SOCKET:
		last_socket = *(const struct ev_file_socket *)header;
		file_count++;
		break;
	}
}

static inline void drain(void)
{
	const struct ev_header *header;
	size_t bytes;

	wait_count = lock_count = other_count = stack_count = file_count = 0;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		while ((header = shim_read(&rings, cpu, &bytes)))
			take_record(header, bytes);
	CHECK(!shim_records_open() && !shim_tasks_held);
}

static inline struct world_task *add_traced(void)
{
	struct world_task *task = world_add_task(&world, NULL);

	shim_set_target(task->task.pid, TARGET_EXISTING);
	world_visit(&world, 0, task);
	world_wake_in(&world, 0, task, WAKE_HARDIRQ);
	return task;
}

static inline void run_on(uint32_t cpu, struct task_struct *task)
{
	shim_cpu = cpu;
	shim_current = task;
}

/* The programs of CPU 0 at a tracepoint: the kernel enters none that it has interrupted there. */
struct entries {
	bool is_in_first, is_in_nested;
	uint64_t misses;
};

static struct entries begins, ends;

static inline void begin_as(const struct world_options *options)
{
	memset(&plain, 0, sizeof(plain));
	begins = ends = (struct entries){ 0 };
	world_init(&world, options);
	thread = add_traced();
	world_leave(&world, 0, LEAVE_PREEMPTED, thread);
	shim_kernel_stack = (struct shim_stack){ .count = 2, .frames = { 0xffffffff81000100, 0xffffffff81000200 } };
	drain();
	run_on(0, &thread->task);
}

static inline void begin(void)
{
	begin_as(&(struct world_options){ .cpu_count = CPUS, .begin_ns = 1000000 });
}

static inline void end(void)
{
	drain();
	world_fini(&world);
}

static inline void in_context(uint32_t preempt_count)
{
	shim_set_preempt_count(shim_cpu, preempt_count);
}

#define enter(is_in, misses, call)  \
	do {                        \
		if (is_in) {        \
			(misses)++; \
			break;      \
		}                   \
		(is_in) = true;     \
		shim_point();       \
		call;               \
		shim_point();       \
		(is_in) = false;    \
		shim_point();       \
	} while (0)

static inline void wait_begins(const void *lock, unsigned int flags)
{
	uint64_t nested_misses = 0;

	enter(begins.is_in_first, begins.misses, klock_begin(NULL, (void *)lock, flags));
	enter(begins.is_in_nested, nested_misses, nested_begin(NULL, (void *)lock, flags));
}

static inline void wait_ends(const void *lock, int result)
{
	uint64_t nested_misses = 0;

	enter(ends.is_in_first, ends.misses, klock_end(NULL, (void *)lock, result));
	enter(ends.is_in_nested, nested_misses, nested_end(NULL, (void *)lock, result));
}

static inline void pass(uint64_t ns)
{
	world_pass(&world, ns);
}

/* One wait, recorded to its end. */
static inline const struct ev_klock_wait *wait_for(const void *lock, unsigned int flags, uint64_t wait_ns)
{
	wait_begins(lock, flags);
	pass(wait_ns);
	wait_ends(lock, 0);
	drain();
	CHECK_EQUAL(wait_count, 1);
	CHECK_EQUAL(waits[0].header.time_ns - waits[0].begin_ns, wait_ns);
	return &waits[0];
}
