/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The changes of state that criticality.c, which alone decides what threads do, reports. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

struct thread;

/* From time_ns on a thread does this. */
struct state_change {
	const struct thread *thread;
	uint64_t time_ns;                  /* not before that of the change before */
	uint8_t phase;                     /* enum thread_phase */
	bool is_spinning;                  /* RUNNING: it waits in a loop */
	uint32_t cpu;                      /* RUNNING */
	const struct ev_sched_switch *out; /* BLOCKED, RUNNABLE: the switch that says why; or NULL */
	const struct ev_sched_wake *wake;  /* RUNNABLE: by whom; or NULL */
};

struct state_listener {
	void (*on_change)(void *data, const struct state_change *change);
	/* The thread, which runs again already, was woken by this. */
	void (*on_late_wake)(void *data, const struct thread *thread, const struct ev_sched_wake *wake);
	void *data;
};
