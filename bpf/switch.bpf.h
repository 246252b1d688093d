/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why a thread is switched out. */
#pragma once

#include "state.bpf.h"

/*
 * Why a thread leaves the CPU. A signal can make one that was going to sleep stay awake; and
 * a waker on another CPU may have come between its decision and its last instruction here.
 * Both show in its state now, which differs then from the one that the tracepoint was given.
 */
static __always_inline __u32 switch_reason(__u32 preempt, __u32 state, __u32 prev_state)
{
	if (prev_state & TASK_DEAD)
		return SWITCH_DEAD;
	if (preempt || !prev_state || !state || state == TASK_WAKING)
		return SWITCH_RUNNABLE;
	if (prev_state & TASK_STOPPED_OR_TRACED)
		return SWITCH_STOPPED;
	if (prev_state & TASK_INTERRUPTIBLE)
		return SWITCH_SLEEPING;
	return SWITCH_BLOCKED;
}

static __always_inline bool is_blocking(__u32 reason)
{
	return reason != SWITCH_RUNNABLE && reason != SWITCH_DEAD;
}
