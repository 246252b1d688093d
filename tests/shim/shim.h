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

#undef const		/* the shim of bpf_helpers.h takes it away from the programs */

enum { SHIM_FRAMES_MAX = 300 };

/* What bpf_get_stack() finds. A negative count is an error. */
struct shim_stack {
	long count;
	uint64_t frames[SHIM_FRAMES_MAX];
};

extern uint64_t shim_now_ns;
extern uint64_t shim_tick_ns;		/* the clock goes on by this at each reading */
extern uint32_t shim_cpu;
extern struct task_struct *shim_current;
extern struct pt_regs shim_user_regs;
extern struct shim_stack shim_user_stack, shim_kernel_stack;
extern uint64_t shim_stacks_asked;	/* calls of bpf_get_stack() */
extern bool shim_storage_fails;		/* no memory for another thread's state */
extern bool shim_stacks_map_fails;	/* no room in the map of known stacks */
extern uint32_t (*shim_random)(void);	/* NULL: a fixed pseudo-random sequence */
extern void (*shim_at_point)(void);	/* called at each helper and atomic operation */

void shim_reset(void);

/* Rings of this many bytes (a power of two) for CPUs 0 to cpu_count - 1. */
void shim_make_rings(uint32_t cpu_count, size_t bytes);
void shim_make_ring(struct rings_map *map, uint32_t cpu, size_t bytes);

/*
 * The next record of a CPU, NULL when there is none or when the next is still being written.
 * Reading frees its space. It stays valid until the next reading of any ring.
 */
const struct ev_header *shim_read(struct rings_map *map, uint32_t cpu, size_t *size);
size_t shim_bytes_waiting(struct rings_map *map, uint32_t cpu);

/* Records reserved and neither submitted nor discarded. */
size_t shim_records_open(void);

struct thread_state *shim_thread(struct task_struct *task);	/* NULL: not traced */
void shim_free_task(struct task_struct *task);
void shim_set_target(uint32_t pid, uint32_t kind);
uint32_t shim_target(uint32_t pid);
void shim_forget_stacks(void);

#define shim_set_option(option, value) (*(__typeof__(option) volatile *)&(option) = (value))

int sched_switch(void *ctx, bool preempt, struct task_struct *prev, struct task_struct *next,
		 unsigned int prev_state);
int sched_waking(void *ctx, struct task_struct *task);
int sched_process_fork(void *ctx, struct task_struct *parent, struct task_struct *child);
int sched_process_exec(void *ctx, struct task_struct *task);
int sched_process_exit(void *ctx, struct task_struct *task);
int task_rename(void *ctx, struct task_struct *task, const char *name);
int list_threads(struct bpf_iter__task *ctx);
int sample(struct bpf_perf_event_data *ctx);
