/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a walk tells of a state or a sample, to a format and to sums. */
#pragma once

struct ev_sched_sample;
struct export_walk;
struct walked_thread;

/* The thread's state ends now. */
void export_state(struct export_walk *walk, struct walked_thread *thread);

/* The thread was seen running. */
void export_sample(struct export_walk *walk, struct walked_thread *thread, const struct ev_sched_sample *e);

/* The walk is over: what threads ran since their last samples, no sample stands for. */
void export_unsampled(struct export_walk *walk);
