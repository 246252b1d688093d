/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's helpers and maps, as the tests steer them, and the programs to call. All is
 * one global machine, for so the programs see it; shim_reset() makes it new. A program that
 * breaks a rule of the verifier (a record neither sent nor discarded, a read out of bounds)
 * aborts the test.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.bpf.h"
#include "active.bpf.h"

#undef const /* the shim of bpf_helpers.h takes it away from the programs */

enum {
	SHIM_FRAMES_MAX = 300,
	SHIM_STACK_BASE = 0x10000, /* frame i of the user's stack takes 8 bytes from 8 * i on */
};

/* What bpf_get_stack() finds. A negative count is an error. */
struct shim_stack {
	long count;
	uint64_t frames[SHIM_FRAMES_MAX];
};

extern uint64_t shim_now_ns;

/* The kernel's ticks so far. */
extern uint64_t shim_jiffies;
extern uint64_t shim_tick_ns; /* the clock goes on by this at each reading */
extern uint32_t shim_cpu;
extern struct task_struct *shim_current;
extern struct pt_regs shim_user_regs;                               /* of all tasks */
extern struct pt_regs *(*shim_registers)(struct task_struct *task); /* unless this is set */
extern struct shim_stack shim_user_stack, shim_kernel_stack;
extern uint64_t shim_stacks_asked;         /* calls of bpf_get_stack(), and loops over frames */
extern uint64_t shim_user_reads;           /* of the user's memory */
extern struct python_process shim_python;  /* the interpreter of all processes */
extern struct ruby_process shim_ruby;      /* the same */
extern struct v8_process shim_v8;          /* the same of V8 */
extern struct vm_area_struct *shim_mapped; /* at these addresses; NULL: nothing, or not to be seen */
extern uint64_t shim_mapped_begin, shim_mapped_bytes;
extern const char *shim_missing_field;  /* fields whose expression contains this are not there */
extern bool shim_storage_fails;         /* no memory for another thread's state */
extern bool shim_stacks_map_fails;      /* no space in the map of known stacks */
extern struct usdt_site shim_usdt_site; /* the one there is, number 0 */
extern size_t shim_held_max;            /* locks that are counted at most */
extern bool shim_tables_are_missing;    /* no unwind tables for any code */
extern uint64_t shim_doorbell_rings;
extern uint64_t shim_cookie;                                    /* that a probe was attached with */
extern uint32_t (*shim_random)(void);                           /* NULL: a fixed pseudo-random sequence */
extern struct task_struct *(*shim_find_task)(int pid);          /* NULL: no task is found by its number */
extern size_t shim_tasks_held;                                  /* found so, and not given back */
extern struct kmem_cache *(*shim_find_cache)(uint64_t address); /* NULL: no memory is of any */
extern void (*shim_at_point)(void);                             /* at each helper, atomic operation and barrier */

void shim_reset(void);

/* What the user has in memory at an address, instead of what was there. The bytes are copied. */
void shim_plant(uint64_t address, const void *bytes, size_t size);

/* For CPUs 0 to cpu_count - 1: rings of this many bytes and of this many slots (powers of two). */
void shim_make_rings(uint32_t cpu_count, size_t bytes, uint32_t slots);
void shim_make_ring(struct rings_map *map, uint32_t cpu, size_t bytes);

/* All slot rings again and empty: the programs know only one size. */
void shim_make_slots(uint32_t cpu_count, uint32_t slots);

/* Where an empty slot ring goes on. */
void shim_set_slot_position(uint32_t cpu, uint64_t position);

/*
 * The next record of a CPU, by time, and by the order of writing where the clock stands still;
 * &rings stands for its slot ring too. NULL when there is none or the next is still being
 * written. Reading frees its space. It stays valid until the next reading of any ring.
 */
const struct ev_header *shim_read(struct rings_map *map, uint32_t cpu, size_t *size);
size_t shim_bytes_waiting(struct rings_map *map, uint32_t cpu);

/*
 * As the engine's slot_ring_drain(): the records of a CPU's slot ring that are complete. True
 * when those are all that have begun.
 */
bool shim_drain_slots(uint32_t cpu, void (*on_record)(const struct ev_header *header));
size_t shim_slots_waiting(uint32_t cpu);

/* Records reserved or begun, and neither submitted, ended, discarded nor cancelled. */
size_t shim_records_open(void);

struct thread_state *shim_thread(struct task_struct *task);      /* NULL: not traced */
struct external_thread *shim_external(struct task_struct *task); /* NULL: not recorded */
/* The tick's handler runs so long after it was to expire. */
enum { SHIM_TICK_LATE_NS = 300 };

/* Two timers of the current CPU expire, one of no interest and the tick, while regs were in use. */
void shim_expire_timers(struct pt_regs *regs);
void shim_expire_our_timer(struct bpf_perf_event_data *ctx); /* as late as the tick's */

void shim_free_task(struct task_struct *task);
void shim_set_target(uint32_t pid, uint32_t kind);
uint32_t shim_target(uint32_t pid);

/* The key of the i-th lock that is counted; NULL: there are not so many. */
void *shim_held(size_t i);

/* What has been recorded: &stacks_known, &files_known, &others_known or &klocks_known. */
void shim_forget(void *map);

/* For se.cfs_rq of a task that runs on this CPU: programs find the CPU's own variables by it. */
struct cfs_rq *shim_queue(uint32_t cpu);

/* As in the kernel's preempt.h: which interrupts the CPU is in. */
void shim_set_preempt_count(uint32_t cpu, int count);

#define shim_set_option(option, value) (*(__typeof__(option) volatile *)&(option) = (value))

int sched_switch(void *ctx, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state);
int sched_waking(void *ctx, struct task_struct *task);
int sched_wakeup(void *ctx, struct task_struct *task);
int sched_process_fork(void *ctx, struct task_struct *parent, struct task_struct *child);
int sched_process_exec(void *ctx, struct task_struct *task, int old_pid, struct linux_binprm *program);
int exit_begin(void *ctx, struct task_struct *task);
int sched_process_exit(void *ctx, struct task_struct *task);
int task_rename(void *ctx, struct task_struct *task, const char *name);
int list_threads(struct bpf_iter__task *ctx);
int list_waits(struct bpf_iter__task *ctx);
int list_listeners(struct bpf_iter__task *ctx);
int data_ready(void *ctx, const struct sock *sock);
int page_fault(void *ctx, unsigned long address, struct pt_regs *regs);
int lock_posix(void *ctx, struct inode *inode, struct file_lock *lock, int result);
int lock_flock(void *ctx, struct inode *inode, struct file_lock *lock, int result);
int sample_timer(struct bpf_perf_event_data *ctx);
int sample_expiry(void *ctx, struct hrtimer *timer);
int irq_begin(void *ctx, int irq);
int irq_end(void *ctx, int irq, struct irqaction *action, int result);
int softirq_begin(void *ctx, unsigned int vector);
int softirq_end(void *ctx, unsigned int vector);
int timer_begin(void *ctx);
int timer_end(void *ctx);
int net_receive(void *ctx, struct sk_buff *packet);
int klock_begin(void *ctx, void *lock, unsigned int flags);
int klock_end(void *ctx, void *lock, int result);
int nested_begin(void *ctx, void *lock, unsigned int flags);
int nested_end(void *ctx, void *lock, int result);
int list_queues(struct bpf_iter__task *ctx);
int acquire_call(struct pt_regs *ctx);
int acquire_return(struct pt_regs *ctx);
int list_holds(struct bpf_iter__bpf_map_elem *ctx);
int block_insert(void *ctx, struct request *request);
int block_issue(void *ctx, struct request *request);
int block_complete(void *ctx, struct request *request, uint8_t status, unsigned int bytes);
