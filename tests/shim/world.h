/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small kernel: tasks, CPUs and what the scheduler does with them, calling the BPF
 * programs as the kernel's tracepoints would. After each step it compares what the programs
 * sent and counted with the model; a difference fails the test that runs. Steps follow each
 * other; for programs that overlap, see bpf_race_test.c.
 */
#pragma once

#include "model.h"
#include "shim.h"

enum { WORLD_CPUS_MAX = 8, WORLD_TASKS_MAX = 512, WORLD_PATHS = 24 };

enum task_place { PLACE_BLOCKED, PLACE_READY, PLACE_ON_CPU, PLACE_DEAD };

struct world_task {
	struct task_struct task;	/* first: the programs' task is ours */
	struct pid pid;
	struct mm_struct mm;
	struct signal_struct signal;
	enum task_place place;
	uint32_t cpu;
	bool is_idle, is_exiting, is_traced, has_exit_path;
	uint32_t number;		/* as the model expects it */
	uint64_t slice_begin_ns;
	uint32_t path;			/* where it is in its program */
	uint32_t exit_path;
};

/* The options of pinch, as the user means them. */
struct world_options {
	uint32_t cpu_count, nmin;
	bool threads_only, processes_only, trace_all;
	uint32_t own_pid;
	uint32_t keep_all_above_ns;
	uint64_t begin_ns;		/* what the clock says at first */
};

struct world {
	struct world_options options;
	struct model model;
	struct world_task *tasks[WORLD_TASKS_MAX];	/* owned */
	size_t task_count;
	struct world_task idle[WORLD_CPUS_MAX];
	struct world_task *on_cpu[WORLD_CPUS_MAX];
	uint64_t now_ns;		/* since the beginning, as the model counts */
	uint64_t integral_base;
	uint32_t numbers_given, pids_given;
	uint64_t path_ids[WORLD_PATHS];	/* 0: not met yet */
	struct ev_sched_switch last_switch;	/* of a traced thread or to one */
	uint64_t slices, critical_slices, generous_stacks;
	const char *what;		/* the step, for a failure's message */
	uint64_t seed, step;
};

/* Why a task leaves its CPU, besides a plain sleep. */
enum leave {
	LEAVE_PREEMPTED,
	LEAVE_YIELDS,
	LEAVE_SIGNAL_PENDING,		/* was going to sleep; the state is set back */
	LEAVE_WOKEN_MEANWHILE,		/* a waker came between decision and switch */
	LEAVE_REQUEUED_MEANWHILE,	/* the same, where dequeueing is delayed (since 6.12) */
	LEAVE_PREEMPTED_GOING_TO_SLEEP,
	LEAVE_DEAD,
	LEAVE_COUNT,
};

void world_init(struct world *world, const struct world_options *options);
void world_fini(struct world *world);

/* A task that lived before, in a new process (leader NULL) or in the leader's. */
struct world_task *world_add_task(struct world *world, struct world_task *leader);

void world_pass(struct world *world, uint64_t ns);
struct world_task *world_fork(struct world *world, uint32_t cpu, bool is_thread);
void world_exec(struct world *world, uint32_t cpu);
/* What an exit begins with, where the kernel tells of the exit itself without memory. */
void world_exit_begin(struct world *world, uint32_t cpu);
void world_exit(struct world *world, uint32_t cpu, bool has_memory);
void world_rename(struct world *world, uint32_t cpu, const char *name);
void world_sample(struct world *world, uint32_t cpu, bool in_kernel, bool by_tick);

/* next may be NULL: the CPU becomes idle. */
void world_sleep(struct world *world, uint32_t cpu, uint32_t state, struct world_task *next);
void world_leave(struct world *world, uint32_t cpu, enum leave why, struct world_task *next);

/* Wakes a blocked task; or one that is not blocked, which is no wake-up. */
void world_wake(struct world *world, uint32_t waker_cpu, struct world_task *task);

/* pinch's iterator comes to the task; it runs on this CPU. */
void world_visit(struct world *world, uint32_t cpu, struct world_task *task);

/* A failure that says where the world was. */
#define world_require(world, condition)							\
	world_check(world, condition, #condition, __FILE__, __LINE__)
void world_check(const struct world *world, bool is_so, const char *claim, const char *file,
		 int line);
