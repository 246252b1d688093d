/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the world share: each step knows which records must have come. */
#pragma once

#include "world.h"

/* The CPU's next record; it stays valid until the next one is read. */
const void *world_expect(struct world *world, uint32_t cpu, enum event_id id, uint32_t thread);

/* world_outside.c: who is external. */
/* The CPU's next record, as if nobody but the target were recorded. */
const struct ev_header *world_read(struct world *world, uint32_t cpu);
/* Its number, whether it is traced or not; 0: it is not recorded. */
uint32_t world_number(const struct world_task *task);
/* The step says that of the task, unless that one is traced. */
void world_expect_external(struct world *world, enum event_id id, struct world_task *task);
void world_check_external(struct world *world);
void world_check_external_switch(struct world *world, const struct world_task *prev, const struct world_task *next,
				 enum switch_state reason);

/* world_stack.c: call paths, and which of them must have come. */
void world_stacks_init(struct world *world);
/* The registers of a task that has come to its path, or has no memory any more. */
void world_go_to_path(struct world_task *task);
/* The name of the path's stack, which is recorded if it was not. */
uint64_t world_expect_frames(struct world *world, uint32_t cpu, uint32_t path, bool has_kernel);

/*
 * A sample's: of the task's path, or of the kernel above it, which is interrupted at ip until
 * that is 0. */
void world_interrupt_kernel(uint64_t ip);
void world_expect_sample(struct world *world, uint32_t cpu, const struct world_task *task, uint64_t kernel_ip,
			 uint64_t due_ns);
/* Of a switch from a traced task, and of a wake-up of one, all that is about stacks. */
void world_check_switch_stack(struct world *world, uint32_t cpu, struct world_task *prev,
			      const struct ev_sched_switch *e);
void world_check_wake_stacks(struct world *world, uint32_t cpu, const struct world_task *waker, struct world_task *task,
			     const struct ev_sched_wake *e);

/* One who is not traced has been recorded, unless that was done. */
void world_expect_other(struct world *world, uint32_t cpu, struct world_task *other);
/* Before a wake-up, its waker. */
void world_expect_waker(struct world *world, uint32_t cpu, struct world_task *waker, enum wake_context context);

/* world_wait.c: what is waited for, and who wakes. */
void world_waits_init(struct world *world);
void world_check_wait(struct world *world, uint32_t cpu, struct world_task *task, const struct ev_sched_switch *e);
/* rival: who has the CPU of one that could run, if he is not traced; else NULL. */
void world_check_no_wait(struct world *world, const struct world_task *rival, const struct ev_sched_switch *e);
void world_check_found_wait(struct world *world, uint32_t cpu, const struct world_task *task,
			    const struct ev_thread_found *e);
/* True when the waker is traced, and has stacks to show. */
bool world_check_waker(struct world *world, const struct world_task *waker, enum wake_context context,
		       const struct ev_sched_wake *e);
