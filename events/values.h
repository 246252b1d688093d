/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that event fields carry. Part of the file format: explicit and permanent.
 */
#pragma once

/* Why a thread was switched out: sched.SWITCH.state. */
enum switch_state {
	SWITCH_RUNNABLE = 0,	/* preempted, or it yielded: it wants to go on */
	SWITCH_SLEEPING = 1,	/* interruptible sleep */
	SWITCH_BLOCKED = 2,	/* uninterruptible: mostly disk and kernel locks */
	SWITCH_STOPPED = 3,	/* by a signal or a debugger */
	SWITCH_DEAD = 4,	/* its last switch */
};

/* sched.SWITCH.flags. */
enum switch_flags {
	SWITCH_HAS_STACK = 1,	/* stack and keep are meant, even when stack is 0 */
	SWITCH_STACK_SKIPPED = 2,	/* the slice was worth a stack, the governor took none */
};

/* What a thread does: thread.FOUND.phase. */
enum thread_phase {
	PHASE_UNKNOWN = 0,
	PHASE_BLOCKED = 1,
	PHASE_RUNNABLE = 2,
	PHASE_RUNNING = 3,
	PHASE_DEAD = 4,
};
