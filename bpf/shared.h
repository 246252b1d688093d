/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the BPF programs and the engine that loads them agree upon, beyond the events.
 */
#pragma once

#include <linux/types.h>

enum {
	KERNEL_CPUS_MAX = 1024,
	STACK_DEPTH_MAX = 127,
	TIMED_EACH = 64,      /* one run of so many has its time taken */
	STACK_TIMES = 64,     /* stacks are counted by what they took: the last one is for all above */
	STACK_TIME_SHIFT = 8, /* in steps of 256 ns */
};

enum {
	AWAITED_MAX = 4,
	AWAITED_NAME_BYTES = 64,
};

/* What has this name when it executes a program is traced from then on, whoever started it. */
struct awaited_name {
	__u64 words[AWAITED_NAME_BYTES / sizeof(__u64)]; /* a string, filled up with 0; empty: none */
};

/* Which spans a system call begins and ends: bits by their numbers. */
struct span_call {
	__u16 begins, ends;
};

/* When it does. */
struct span_rule {
	__u32 fd;       /* of which descriptor only; 2^32 - 1: any */
	__s32 least;    /* of what it must return */
	__u8 file_kind; /* what the descriptor must be, as in st_mode >> 12; 0: anything */
	__u8 makes_fd;  /* the descriptor is what it returns */
	__u8 is_by_fd;  /* what is begun with a descriptor is ended with it */
	__u8 reserved;
};

/* What a probe of a function is given: the number of its span, and this if it is where the function jumps. */
#define SPAN_PROBE_JUMPS (1ull << 32)

enum {
	KLOCK_KINDS_MAX = 32,
	KLOCK_ARGUMENTS_MAX = 6,
};

struct klock_kind_name {
	char name[24];
};

/* What a function does to a kernel lock. */
enum klock_step {
	KLOCK_TAKES,
	KLOCK_TRIES,          /* has it unless it returns 0 */
	KLOCK_TRIES_FOR_ZERO, /* has it if it returns 0 */
	KLOCK_LETS_GO,
	KLOCK_CHANGES, /* has it in another way */
};

/* What a probe of a function is given; argument: which one is the lock, from 0. */
#define KLOCK_PROBE(step, kind, argument) ((__u64)(argument) << 16 | (__u64)(kind) << 8 | (step))
#define KLOCK_PROBE_STEP(cookie) ((cookie)&0xff)
#define KLOCK_PROBE_KIND(cookie) ((cookie) >> 8 & (KLOCK_KINDS_MAX - 1))
#define KLOCK_PROBE_ARGUMENT(cookie) ((cookie) >> 16)

/* A lock that the engine itself takes and has, and the shortest times that this took. */
struct klock_own {
	__u64 address, since_ns;
	__u64 shortest_take_ns, shortest_hold_ns; /* 0: none yet */
};

/* Processes to trace from now on: those that run, or from their next exec on. */
enum target_kind {
	TARGET_EXISTING = 1,
	TARGET_EXEC = 2,
};

/* Why the engine is to look before its time. */
enum bell {
	BELL_TABLES, /* unwind tables are missing */
	BELL_NAMES,  /* there are frames whose names are in the process's memory, for as long as it lives */
	BELL_FULL,   /* a slot ring is half full */
	BELL_OWN,    /* a process has events of its own, and may end soon */
	BELL_LOOPS,  /* an event loop has run for long since a poll that blocked */
};

enum { QUEUE_LOCKS_BITS = 2, QUEUE_LOCKS = 1 << QUEUE_LOCKS_BITS };

enum { OTHERS_AT_HAND = 8 };

/* What klock_begin or klock_end has seen, for the nested program of its tracepoint: klock.bpf.c. */
struct klock_seen {
	__u64 address;     /* of the lock of the last event, until the nested program has seen it, too */
	__u64 interrupted; /* the same of an event between whose two programs an interrupt came */
	__u32 context;     /* of who comes to the lock: enum wake_context */
	__u32 reserved;
};

/*
 * What a CPU counts, on cache lines of its own. Its slot ring holds the records [slots_read,
 * slots_done); the one at slots_done is being written when slots_begun is ahead.
 */
struct cpu_counts {
	__u64 slots_begun; /* records */
	__u64 slots_done;
	__u64 slots_read;      /* written by the engine */
	__u64 lost_unreported; /* records lost since the last collect.GAP */
	__u64 runs;            /* of the scheduler's programs */
	__u64 timed_runs;      /* of them, those whose time was taken */
	/* Switches between others to record: a traced thread waits for the CPU. */
	__u32 turns_left;
	__u32 next_recorded;  /* who got the CPU in the last switch: tid + 1; 0: unknown */
	__u32 next_process;   /* and its process */
	__u32 hidden_process; /* the last one whose switch from here the kernel reported to no tracer; 0: none */
	/* Behind the cache line that each switch needs. */
	__u64 timed_ns;
	__u64 stack_ns; /* spent on taking stacks */
	__u64 lost;     /* records, all */
	__u64 samples_lost;
	__u64 ticks;                           /* of the kernel's timer */
	__u64 stack_ends[4];                   /* stacks unwound, by enum stack_end */
	__u64 stack_frames;                    /* of the program, in all of them */
	__u32 memory_sent;                     /* stack.MEMORY records */
	__u32 memory_allowed;                  /* how many may have been; written by the engine */
	__u64 others_recorded[OTHERS_AT_HAND]; /* the last threads named that are not traced, and their names */
	__u32 hidden;                          /* switches that the kernel reported to no tracer */
	__u32 is_remembering;                  /* what the engine knows is being noted */
	__u64 hidden_since_ns;                 /* just before that process got the CPU, if it did last; else 0 */
	__u64 unfollowed;                      /* what the verifier is not to know */
	__u64 run_queue;                       /* where the kernel has that of this CPU; 0: unknown */
	__u32 stack_times[STACK_TIMES];
	__u64 timer_due_ns; /* when the timer whose interrupt is being handled was to expire; 0: unknown */
	/* The last socket that data came to here, when, and while which thread ran: its address in the kernel. */
	__u64 ready_socket, ready_ns, ready_task;
	__u64 governed_ns; /* of the time spent on stacks that of those that the governor may leave out: all but those of samples */
	__u32 interrupts_spin; /* an interrupt here has waited for a kernel lock since a thread did */
	__u32 reserved;
	/* Addresses of locks of run queues by a hash: they never go. 0: none. A word each: an interrupt may come at any time. */
	__u64 queue_locks[QUEUE_LOCKS];
	__u64 preempt_count; /* where the kernel has that of this CPU; 0: not looked up yet */
	struct klock_seen klock_begin_seen, klock_end_seen;
	__u64 klocks_nested; /* events that klock_begin and klock_end were not entered for and that are not lost */
	__u64 reserved2[7];
};
_Static_assert(sizeof(struct cpu_counts) % 64 == 0, "no CPU writes to another's cache lines");

/* What a CPU is in the middle of, and what it counts of the machine's events: with --system. */
struct system_cpu {
	__u64 irq_begin_ns, softirq_begin_ns; /* 0: not in one, or since before tracing */
	__u32 irq;                            /* a device's interrupt that it handles, + 1 */
	__u8 softirq;                         /* enum softirq_vector + 1 */
	__u8 is_timer;                        /* one that has expired */
	__u16 reserved;
	__u32 running, running_tid; /* who got the CPU in the last switch: number and tid */
	/* Packets that are not recorded yet. */
	__u64 received_begin_ns;
	__u32 received_packets, received_bytes, received_interface;
	char received_name[16];
	__u32 reserved2;
	__u64 lost_unreported; /* records lost since the last system.LOST */
	__u64 lost;
	__u64 padding[5];
};
_Static_assert(sizeof(struct system_cpu) % 64 == 0, "no CPU writes to another's cache lines");

enum { KERNEL_NAME_BYTES = 640 };

/* What the kernel calls the function at an address, and how far in it that is: "name+0x1a/0x90 [module]". */
struct kernel_name {
	__u64 address;
	char text[KERNEL_NAME_BYTES];
};

/* A record of a slot ring: space for the largest event that goes there. */
struct slot {
	__u64 words[8];
};
