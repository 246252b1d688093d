/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * When event loops come to their polls, which every system call of the machine pays for: it is watched for a moment when a loop
 * has run for long since a poll that blocked, and then not again for a while, at first as long, in the end 16 times as long.
 * Belongs to the kernel side (kernel_loop_watch()); one for each of them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct loop_watch;
struct pinch_bpf;

/* Before loading; not wanted: nothing will be watched. */
void loop_watch_choose(struct pinch_bpf *bpf, bool is_wanted);

struct loop_watch *loop_watch_new(struct pinch_bpf *bpf);
void loop_watch_free(struct loop_watch *watch);

/* BELL_LOOPS has rung. */
void loop_watch_begin(struct loop_watch *watch, uint64_t now_ns);

/* To be called until loop_watch_due_ns() and now and then. NULL is fine in both: nothing is watched. */
void loop_watch_step(struct loop_watch *watch, uint64_t now_ns);

/* When the watch has to end; UINT64_MAX: there is none. */
uint64_t loop_watch_due_ns(const struct loop_watch *watch);

/* Ends it, for good. */
void loop_watch_stop(struct loop_watch *watch);
