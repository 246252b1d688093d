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

enum {
	WORLD_CPUS_MAX = 8,
	WORLD_TASKS_MAX = 512,
	WORLD_PATHS = 24, /* one more, with no frames: where memory is gone */
	WORLD_STACKS = 4 * (WORLD_PATHS + 1),
	WORLD_FILES = 4,
	WORLD_DESCRIPTORS = 6,
	WORLD_FUTEXES = 3, /* whole; with 4 bytes that can be read; with none */
};

enum task_place { PLACE_BLOCKED, PLACE_READY, PLACE_ON_CPU, PLACE_DEAD };

/* What a task is in when it sleeps or wakes: the numbers of system calls, except for the first. */
enum world_call {
	CALL_NONE, /* a page fault, or an interrupt */
	CALL_PLAIN,
	CALL_FUTEX,
	CALL_FUTEX_FLAGS,
	CALL_FUTEX_VECTOR,
	CALL_FILE,
	CALL_POLL,
	CALL_RESTART,
	CALL_POLL_TIME,
	CALL_FILE_PARTS,
	CALL_FILE_MESSAGE,
	CALL_COUNT,
};

/* What a switch must say that ends with a wait. */
struct world_wait {
	uint64_t object;
	uint32_t value, owners[3];
	uint16_t syscall, operation;
	bool has_descriptor, restarts;
	uint32_t descriptor; /* whose file is the object */
};

struct world_file {
	struct file file;
	struct inode inode;
	struct dentry dentry;
	char name[16];
	uint64_t id; /* 0: not met yet */
	bool is_recorded;
};

struct world_task {
	struct task_struct task; /* first: the programs' task is ours */
	struct pt_regs registers;
	struct pid pid;
	struct mm_struct mm;
	struct signal_struct signal;
	enum task_place place;
	uint32_t cpu;
	bool is_idle, is_exiting, is_traced, has_exit_stack;
	uint32_t number;          /* as the model expects it */
	uint32_t external_number; /* the same of one that is external; 0: it is not */
	uint64_t slice_begin_ns;
	uint32_t path; /* where it is in its program */
	uint32_t exit_path;

	struct world_wait wait;                 /* if it blocked */
	struct world_wait wait_recorded;        /* the last one in a system call */
	const struct world_file *file_recorded; /* that it waited for last */
	uint32_t descriptor_recorded;
	bool has_waited, wait_has_stack;
	uint64_t wait_begin_ns, wait_mean_ns;
	uint32_t wait_coin;
	/* The name that was recorded for one who is not traced and wakes, or has the CPU; "": none. */
	char other_recorded[16];
};

/* The options of pinch, as the user means them. */
struct world_options {
	uint32_t cpu_count, nmin;
	bool threads_only, processes_only, trace_all, tells_system;
	bool has_no_slice_stacks; /* once samples have call paths */
	uint32_t own_pid;
	uint32_t keep_all_above_ns;
	uint64_t begin_ns; /* what the clock says at first */
};

struct world_path {
	uint64_t id; /* 0: not met yet */
	bool is_recorded;
};

struct world {
	struct world_options options;
	struct model model;
	struct world_task *tasks[WORLD_TASKS_MAX]; /* owned */
	size_t task_count;
	struct world_task idle[WORLD_CPUS_MAX];
	struct world_task *on_cpu[WORLD_CPUS_MAX];
	uint32_t turns_left[WORLD_CPUS_MAX]; /* that others take and that are recorded */
	bool have_samples_stacks;            /* some sample had one */
	uint64_t now_ns;                     /* since the beginning, as the model counts */
	uint64_t integral_base;
	uint32_t numbers_given, pids_given;
	struct world_path paths[WORLD_STACKS]; /* without the kernel's frames, and with them; of samples, too */
	/* One table of descriptors for all processes. */
	struct files_struct files_struct;
	struct fdtable fdtable;
	struct file *descriptors[WORLD_DESCRIPTORS];
	struct world_file files[WORLD_FILES];
	struct super_block super;
	struct mount mount;
	struct dentry root;
	struct ev_sched_switch last_switch; /* of a traced thread or to one */
	struct ev_sched_wake last_wake;
	/* Of those who are not traced: numbers, what the step must record, what it recorded, and of whom. */
	uint32_t external_numbers_given;
	enum event_id external_id;
	const struct world_task *external_task, *parent, *waker;
	size_t external_count;
	union {
		struct ev_header header;
		struct ev_thread_born born;
		struct ev_thread_found found;
		struct ev_thread_name name;
		struct ev_thread_exec exec;
		struct ev_sched_wake wake;
	} external_recorded;
	struct ev_sched_switch switch_recorded; /* as they came */
	struct ev_sched_wake wake_recorded;
	uint64_t slices, critical_slices, generous_stacks;
	uint64_t waits, waits_kept, wait_stacks;
	const char *what; /* the step, for a failure's message */
	uint64_t seed, step;
};

/* Why a task leaves its CPU, besides a plain sleep. */
enum leave {
	LEAVE_PREEMPTED,
	LEAVE_YIELDS,
	LEAVE_SIGNAL_PENDING,     /* was going to sleep; the state is set back */
	LEAVE_WOKEN_MEANWHILE,    /* a waker came between decision and switch */
	LEAVE_REQUEUED_MEANWHILE, /* the same, where dequeueing is delayed (since 6.12) */
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
/* What an exit begins with, where the kernel reports the exit itself without memory. */
void world_exit_begin(struct world *world, uint32_t cpu);
void world_exit(struct world *world, uint32_t cpu, bool has_memory);
void world_rename(struct world *world, uint32_t cpu, const char *name);
void world_sample(struct world *world, uint32_t cpu, bool in_kernel, bool by_tick);

/*
 * The task is in a system call from here on; which: one of the futexes, files and so on that there
 * are, whatever its value.
 */
void world_call(struct world_task *task, enum world_call call, uint32_t which);

/* The descriptor is that of the file from here on; NULL: it is being closed. */
void world_open(struct world *world, uint32_t descriptor, struct world_file *file);

/* The kernel side forgets what it has recorded. */
void world_forget(struct world *world);

/* next may be NULL: the CPU becomes idle. */
void world_sleep(struct world *world, uint32_t cpu, uint32_t state, struct world_task *next);
void world_leave(struct world *world, uint32_t cpu, enum leave why, struct world_task *next);

/* Wakes a blocked task; or one that is not blocked, which is no wake-up. */
void world_wake(struct world *world, uint32_t waker_cpu, struct world_task *task);

/* The same by an interrupt: of what runs on the CPU unless the context is WAKE_THREAD. */
void world_wake_in(struct world *world, uint32_t waker_cpu, struct world_task *task, enum wake_context context);

/* pinch's iterator comes to the task; it runs on this CPU. */
void world_visit(struct world *world, uint32_t cpu, struct world_task *task);

/* A failure that says where the world was. */
#define world_require(world, condition) world_check(world, condition, #condition, __FILE__, __LINE__)
void world_check(const struct world *world, bool is_so, const char *claim, const char *file, int line);
