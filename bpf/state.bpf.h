/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the programs share: the options that the engine sets before loading, the maps, and
 * the count of active threads. state.bpf.c defines it all.
 */
#pragma once

#include "kernel.h"

#include <bpf/bpf_helpers.h>

#include "events.h"
#include "shared.h"
#include "unwind_format.h"
#include "usdt_format.h"
#include "values.h"

enum {
	TARGETS_MAX = 65536,
	STACKS_KNOWN_MAX = 16384,
	THREADS_ACTIVE_MAX = 65535,
};

/* Options; the verifier drops the branches that they rule out. */
extern const volatile __u32 nmin;              /* 0: half of the living threads */
extern const volatile __u32 stack_depth;       /* frames, 1 to STACK_DEPTH_MAX */
extern const volatile __u32 sample_each_ticks; /* 0: the kernel's tick is not used */
extern const volatile __u32 sample_tick_ns;    /* these ticks, ns */
extern const volatile __u32 jiffy_ns;          /* one tick */
/* Of the kernel's per-CPU variables by which it is known. */
extern const volatile __u32 hrtimer_bases_offset, tick_cpu_sched_offset, irq_regs_offset;
extern const volatile __u32 runqueues_offset, preempt_count_offset; /* 0: unknown */
extern const volatile bool kernel_stacks;
extern const volatile bool slice_stacks;   /* critical slices end with one, also where samples tell what ran */
extern const volatile bool threads_only;   /* do not follow into new processes */
extern const volatile bool processes_only; /* first threads of processes only */
extern const volatile bool trace_all;
extern const volatile bool awaits_names; /* there are any of these: */
extern const volatile struct awaited_name awaited_names[AWAITED_MAX];
extern const volatile bool follows_hosts;       /* host.bpf.c is there */
extern const volatile bool tells_system;        /* of all threads, and system.bpf.c is there */
extern const volatile bool counts_acquisitions; /* acquire.bpf.c is there */
extern const volatile struct klock_kind_name klock_kind_names[KLOCK_KINDS_MAX];
extern const volatile __u32 own_pid;                              /* never traced */
extern const volatile __u32 task_type;                            /* the kernel's number of task_struct; 0: unknown */
extern const volatile __u32 slot_mask;                            /* slots of a ring, less one: a power of two */
extern const volatile struct span_call span_calls[SYSCALLS_MAX];  /* by system call */
extern const volatile struct span_rule span_rules[2 * SPANS_MAX]; /* begin and end of each span */
extern const volatile __u8 wait_arguments[SYSCALLS_MAX];          /* enum wait_argument, by system call */
extern const volatile __u8 poll_kinds[SYSCALLS_MAX];              /* enum poll_kind, likewise */

/* What is known about a thread of an interpreter. */
struct python_hint {
	__u64 thread; /* where CPython keeps its state; 0: unknown */
	__u32 skip;   /* stacks that it is not looked for, after it was without effect */
	__u32 skip_last;
};

/* An open call of getaddrinfo(). */
struct host_call {
	__u64 name, result; /* addresses of what it was given */
	__u64 return_at;    /* where on the stack its return address was; 0: nowhere */
	__u64 return_address;
};

/* A kernel lock that is waited for: the fields of klock.WAIT. */
struct klock_wait {
	__u64 address; /* 0: none is */
	__u64 lock;
	__u64 begin_ns;
	__u64 stack, owner_stack;
	__u32 keep;
	__u32 owner;
	__u8 kind, flags;
	__u16 reserved;
	__u32 tracing_ns;
};

/* What waits are alike in their lengths: those that spin, those for a mutex, which do both, and those that sleep. */
enum { KLOCK_SPINS, KLOCK_DOES_BOTH, KLOCK_SLEEPS, KLOCK_LENGTHS };

/* A thread that sleeps for a lock may yet have to wait for another one on its way to sleep. */
enum { KLOCKS_AT_ONCE = 2 };

/* A kernel lock that a thread has. */
struct klock_hold {
	__u64 address; /* 0: none */
	__u64 lock;    /* its name */
	__u64 since_ns;
	__u64 kind;
};

/* Of those that a thread has more of at once, the first ones are not noted any more. */
enum { KLOCK_HOLDS_AT_ONCE = 8 };

/* The lock of a file that a thread tried last to take without waiting for it, and did not get. */
struct lock_try {
	__u64 at_ns; /* 0: it has waited since */
	__u32 descriptor;
	__u16 syscall, operation; /* as if it had waited */
	__u32 holder;             /* the number of the thread that had it; 0: not traced */
	__u32 holder_tid, holder_pid;
	__u16 is_new;     /* it came just before the wait that begins */
	__u16 is_awaited; /* that is a sleep, after which it will try again */
};

/* How a thread polls, as event loops do: loop.bpf.h. */
struct loop_polls {
	__u64 exec_ns; /* what the thread had run by the last poll that blocked */
	__u64 came_ns; /* when it came to such a poll last, while polls are watched */
	__u32 descriptor;
	__u16 kind;  /* enum poll_kind */
	__u16 count; /* that blocked, LOOP_POLLS_MIN at most */
};

/*
 * A traced thread. Only the CPU that switches the thread writes it, except for phase: a waker
 * moves it from BLOCKED to RUNNABLE, and the iterator from UNKNOWN to what it finds.
 */
struct thread_state {
	/* First, in as few cache lines as there can be, what most switches and wake-ups need. */
	__u32 thread; /* its number in this run, from 1 */
	__u32 phase;  /* enum thread_phase */
	__u64 slice_begin_ns;
	__u64 slice_begin_integral; /* of the active threads; modulo 2^48 */
	/* The open wait, or the last one. */
	__u64 wait_begin_ns;
	__u32 wait_coin; /* decides whether its stacks are kept */
	__u32 wait_has_stack;
	__u32 wait_mean_ns; /* of those before, the later the more; at most 4 s */
	__u32 has_exit_stack;
	__u64 wait_object;
	__u16 wait_syscall;
	__u16 wait_operation;
	__u32 wait_value;
	/* The file that it waited for last, so that it need not be looked up again. */
	__u64 file;
	__u64 file_struct, file_inode, file_inode_number, file_private;
	__u32 file_descriptor;
	__u32 file_polls;   /* bool: it is an epoll, by which many are waited for */
	__u32 is_polling;   /* bool: it is one of polls_open */
	__u32 waits_klocks; /* bool: for some of those below */
	struct lock_try lock_try;
	/* Where it waits for a CPU, and how long that was stopped before; 0: it does not matter. */
	__u64 queue, queue_stopped_ns;
	/* The last page fault in user space, if its tracepoint is there: the address, and by what code. */
	__u64 fault_address, fault_ip;
	/* What fewer need. */
	__u64 exit_stack; /* taken while the thread still had its memory */
	__u64 wait_listed; /* begin of the wait that list_waits has reported, its lowest bit set: as one that lasts to the end */
	/* The futex outside of its own memory that it waited for last; place 0: none but its own. */
	__u64 place_address, place_space, place;
	struct python_hint python;
	struct host_call host;
	struct loop_polls loop;
	/* Kernel locks that it waits for, and may sleep meanwhile. */
	struct klock_wait klocks[KLOCKS_AT_ONCE];
	__u32 klock_means_ns[KLOCK_LENGTHS]; /* as wait_mean_ns */
	__u32 is_look_due;                   /* when it is on a run queue: see look_set() */
	__u32 cpu;                           /* where it runs or ran last */
	__u32 input_look; /* of the first thread of a process: the last look that found new input of it */
	/* With pinch klock --acquisitions: what it has. */
	struct klock_hold klock_holds[KLOCK_HOLDS_AT_ONCE];
	__u64 klock_taken, klock_take_ns; /* what it is taking, and since when */
};

struct threads_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_state);
};

/* A thread that is external. Who writes what: as above. */
struct external_thread {
	__u32 number; /* with THREAD_EXTERNAL */
	__u32 phase;
	__u32 cpu;
	__u32 reserved;
};

struct externals_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct external_thread);
};

struct targets_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TARGETS_MAX);
	__type(key, __u32);   /* tgid */
	__type(value, __u32); /* enum target_kind */
};

struct ring_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* the engine makes the real ones */
};

/* One ring a CPU: nothing is shared on the hot path. */
struct rings_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, KERNEL_CPUS_MAX);
	__uint(key_size, sizeof(__u32));
	__array(values, struct ring_map);
};

/* A byte in it wakes the engine, which else examines the rings when it thinks fit. */
struct doorbell_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

/*
 * Context switches and wake-ups go to rings of fixed slots, which one CPU writes with its
 * interrupts off: no lock, no atomic operation. Here are the rings of all CPUs, one
 * after the other: an array's look-up is a few instructions, and an array of arrays' is not.
 */
struct slots_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* the engine says how many */
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct slot));
};

enum {
	SUBJECT_REGISTERS = 32,      /* a power of two, above those that there are */
	STACK_FRAMES_CAPACITY = 256, /* of the kernel and the user: STACK_DEPTH_MAX each */
	STACK_MEMOS = 512,
};

/* The rule of an address, in the processes whose list of ranges has this version. */
struct unwind_memo {
	__u64 address;
	__u32 version; /* 0: nothing */
	__u32 rule;
};

/* Whose scratch memory: a switch may come while a thread exits, or is listed; a timer at any time. */
enum scratch_owner {
	SCRATCH_OF_SWITCHES,
	SCRATCH_OF_OTHERS,
	SCRATCH_OF_LOCKS,
	SCRATCH_OF_SAMPLES,
	SCRATCH_OWNERS,
	/* Of files alone. */
	SCRATCH_OF_LOCKS_SOFTIRQ = SCRATCH_OWNERS,
	SCRATCH_OF_LOCKS_HARDIRQ,
	FILE_SCRATCH_OWNERS,
};

/*
 * The thread whose stack is taken, as it was when it left user space: the current one, or one of its
 * process that it wakes.
 */
struct stack_subject {
	__u64 registers[SUBJECT_REGISTERS]; /* by their numbers in DWARF */
	__u64 thread_pointer;               /* what its thread-local memory is known by */
	__u32 pid;
	__u32 thread; /* its number */
	struct python_hint python;
	__u64 return_at, return_address; /* as in struct host_call */
};

/* A struct ev_stack_frames as it goes out, in scratch memory: too large for the BPF stack. */
struct stack_scratch {
	__u64 event[sizeof(struct ev_stack_frames) / sizeof(__u64)];
	__u64 frames[STACK_FRAMES_CAPACITY];
	__u32 owner;         /* enum scratch_owner */
	__u32 first;         /* of the user's frames */
	__u32 managed_count; /* of the user's frames */
	struct stack_subject subject;
	struct unwind unwind;
	struct python_walk python;
	struct ruby_walk ruby;
	struct unwind_memo memos[STACK_MEMOS];
};

enum {
	PAGE_BYTES = 4096,
	MEMORY_PAGES = 3,        /* of a stack that is sent as it is; the first one in part */
	MEMORY_WORDS_MAX = 2048, /* for them and the kernel's frames: a power of two */
};

/* A struct ev_stack_memory as it goes out. */
struct memory_scratch {
	__u64 event[sizeof(struct ev_stack_memory) / sizeof(__u64)];
	__u64 words[MEMORY_WORDS_MAX];
};

struct scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_OWNERS);
	__type(key, __u32);
	__type(value, struct stack_scratch);
};

struct memory_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, SCRATCH_OWNERS);
	__type(key, __u32);
	__type(value, struct memory_scratch);
};

/* For the list of waits, which is made once at a time and may sleep: no CPU's. */
struct blocked_memory_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memory_scratch);
};

enum { BLOCKED_PYTHON_WORDS = 256 }; /* a power of two */

/* A struct ev_stack_python as it goes out, and how it is made. */
struct blocked_python {
	__u64 event[sizeof(struct ev_stack_python) / sizeof(__u64)];
	__u64 words[BLOCKED_PYTHON_WORDS];
	__u32 count;
	__u32 reserved;
	struct python_walk python;
	struct ruby_walk ruby;
};

/* The same of Python's and Ruby's frames. */
struct blocked_python_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct blocked_python);
};

/* Stacks that the engine has been sent. The least used are forgotten, and sent again. */
struct stacks_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STACKS_KNOWN_MAX);
	__type(key, __u64);
	__type(value, __u8);
};

struct others_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, STACKS_KNOWN_MAX);
	__type(key, __u64);   /* who */
	__type(value, __u64); /* what it was called */
};

enum {
	NAME_BYTES = 256,
	NAMES_BYTES = 4096, /* of a path */
	PATH_NAMES_MAX = 128,
};

/* A struct ev_file_path or ev_file_socket as it goes out, and where looking for its names is. */
struct file_scratch {
	__u64 event[sizeof(struct ev_file_socket) / sizeof(__u64)]; /* a path's at its end */
	char names[NAMES_BYTES + NAME_BYTES] __attribute__((aligned(8)));
	__u32 bytes, owner;
	__u64 dentry, mount;
	__u64 offset; /* in the file that shared_file() found, bytes */
};

/* Whoever spins for a lock stays on its CPU; what interrupts it may spin itself. */
enum { WAKE_CONTEXTS = WAKE_HARDIRQ + 1, SPINS_INNER = WAKE_CONTEXTS };

struct klock_spins_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2 * SPINS_INNER);
	__type(key, __u32); /* enum wake_context; from SPINS_INNER on, of waits within waits */
	__type(value, struct klock_wait);
};

struct klock_waits {
	struct klock_wait waits[KLOCKS_AT_ONCE];
};

/* Of threads that are not traced, when all are recorded: those of the kernel. */
struct klock_others_map {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct klock_waits);
};

struct klock_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WAKE_CONTEXTS);
	__type(key, __u32); /* enum wake_context */
	__type(value, struct ev_klock_lock);
};

struct klock_held_key {
	__u64 lock; /* its name */
	__u64 kind;
};

/* Since the last record: the fields of klock.HELD. */
struct klock_held {
	__u64 taken, take_ns, holds, hold_ns, max_hold_ns;
	__u64 caller; /* the first one: of all time */
};

struct klocks_held_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* the engine says how many, if acquisitions are counted */
	__type(key, struct klock_held_key);
	__type(value, struct klock_held);
};

struct usdt_sites_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* the engine says how many, if USDT probes are recorded */
	__type(key, __u32);     /* the cookie of the site's probe */
	__type(value, struct usdt_site);
};

struct file_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FILE_SCRATCH_OWNERS);
	__type(key, __u32);
	__type(value, struct file_scratch);
};

/* Unwind tables, in chunks that the engine adds as it needs them: unwind_format.h. */
struct chunk_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, UNWIND_CHUNK_UNITS);
	__type(key, __u32);
	__type(value, __u64);
};

struct chunks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, UNWIND_CHUNKS_MAX);
	__uint(key_size, sizeof(__u32));
	__array(values, struct chunk_map);
};

struct spaces_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TARGETS_MAX);
	__type(key, __u32); /* tgid */
	__type(value, struct unwind_space);
};

/* A lock of a file, by addresses in the kernel. */
struct file_locker_key {
	__u64 inode, owner;
};

/* The thread that has taken it. */
struct file_locker {
	__u32 thread; /* its number */
	__u32 tid, pid;
};

/* Of those that share an owner the one that has locked the file last. The least used are forgotten. */
struct file_lockers_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, struct file_locker_key);
	__type(value, struct file_locker);
};

/* Who has given a request to a device's queue. */
struct block_asker {
	__u32 thread; /* its number */
	__u32 tid;
	__u32 context; /* enum wake_context */
};

/* Until the request is issued; the least used are forgotten. */
struct block_askers_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u64); /* the request's address */
	__type(value, struct block_asker);
};

/* What is at the front of a queue (input.bpf.h). The least used are forgotten. */
struct input_seen {
	__u64 input, since_ns;
	__u32 first, last; /* looks at which it was */
};

struct inputs_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* where the queue lies */
	__type(value, struct input_seen);
};

/*
 * The same, to read pointers from. Of each that is read from a task that the verifier trusts, it searches all of the kernel's types
 * four times for whether that is to be trusted, too: 1 ms for each way that leads there. The cast costs nothing when it runs.
 */
#ifdef CASTS_TASKS /* by one object alone: libbpf 1.1 cannot link two that call the same function of the kernel's */
/* Since 6.2 ("bpf: Add kfunc bpf_rdonly_cast"). */
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

static __always_inline struct task_struct *for_pointers(struct task_struct *task)
{
	return task_type && bpf_rdonly_cast ? bpf_rdonly_cast(task, task_type) : task;
}
#else
static __always_inline struct task_struct *for_pointers(struct task_struct *task)
{
	return task;
}
#endif

extern struct chunks_map unwind_chunks SEC(".maps");
extern struct spaces_map unwind_spaces SEC(".maps");
extern struct threads_map threads SEC(".maps");
extern struct externals_map externals SEC(".maps");
extern struct targets_map targets SEC(".maps");
extern struct slots_map slots SEC(".maps");
extern struct rings_map rings SEC(".maps");
extern struct doorbell_map doorbell SEC(".maps");
/* The sampler's own: it may interrupt a program that is writing to the others. */
extern struct rings_map sample_rings SEC(".maps");
extern struct rings_map system_rings SEC(".maps");
extern struct scratch_map scratch SEC(".maps");
extern struct memory_scratch_map memory_scratch SEC(".maps");
extern struct blocked_memory_map blocked_memory SEC(".maps");
extern struct blocked_python_map blocked_python SEC(".maps");
extern struct stacks_map stacks_known SEC(".maps");
extern struct stacks_map files_known SEC(".maps");
extern struct others_map others_known SEC(".maps");
extern struct file_scratch_map file_scratch SEC(".maps");
extern struct stacks_map klocks_known SEC(".maps");
extern struct klock_spins_map klock_spins SEC(".maps");
extern struct klock_others_map klock_others SEC(".maps");
extern struct klock_scratch_map klock_scratch SEC(".maps");
extern struct klocks_held_map klocks_held SEC(".maps");
extern struct usdt_sites_map usdt_sites SEC(".maps");
extern struct file_lockers_map file_lockers SEC(".maps");
extern struct block_askers_map block_askers SEC(".maps");
extern struct inputs_map inputs_seen SEC(".maps");

extern struct cpu_counts cpu_counts[KERNEL_CPUS_MAX];
extern struct system_cpu system_cpus[KERNEL_CPUS_MAX];

/*
 * Active threads n and their sum S of (change times its time), in one word so that both are
 * read and written at once: S * 2^16 + n, modulo 2^64. The integral of n up to t is n*t - S.
 */
extern __u64 activity;
extern __u64 threads_alive;
/* Threads that are to be looked at when they are on a run queue. */
extern volatile __u64 looks_due;
extern __u64 threads_born;   /* the last number given */
extern __u64 externals_seen; /* the last number given to one of them, without THREAD_EXTERNAL */
extern __u64 others_renamed;
extern __u32 names_rung; /* BELL_NAMES has rung since the engine drained the rings */
extern __u64 waits_left; /* those that the last list of waits had no space for */
/* What the list of waits is of: those that have lasted so long, as many as there is room for; age 0: all. */
extern __u64 list_age_ns;
extern __u32 list_room;

/* list_listeners: the number of this look, how much it has found new, and whether it is a second one, for that alone. */
extern __u32 input_look, inputs_new;
extern bool input_look_is_second;
extern __u64 holds_left; /* sums that the last list of holds had no space for */
extern __u64 holds_lost; /* acquisitions of locks of which there are too many */
extern struct klock_own own_hold;
extern struct kernel_name kernel_name; /* asked for, and the answer */
extern __u64 threads_untracked;        /* refused: no memory for their state, or too many */

/* The governor: slices of less importance (ns of CMetric) are kept with a probability. */
extern volatile __u64 keep_all_above_ns;

/* What the engine's timers are: their period, ns, and what their samples are for, enum sample_role. */
extern volatile __u32 sample_timer_ns;
extern volatile __u32 sample_role;
extern volatile __u32 sample_has_left_ticks; /* bool: timers take all samples */

/* A sample has had a call path. */
extern volatile __u32 samples_have_stacks;

/* Traced threads that wait for many files at once (epoll), or have not had a CPU since. */
extern volatile __u64 polls_open;

/* Since when polls are watched; 0: they are not. The engine's. */
extern volatile __u64 loops_watched_ns;

/* bool: an event loop that runs for long may ring BELL_LOOPS. */
extern volatile __u32 loops_may_ring;
