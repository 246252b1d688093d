/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Threads that the kernel hides from all tracers, with the switch away from them: see is_after_hidden(). */
#pragma once

#include "state.bpf.h"

/* As the last switch that was recorded left it. */
static __always_inline bool is_off_cpu(__u32 phase)
{
	return phase == PHASE_RUNNABLE || phase == PHASE_BLOCKED;
}

/*
 * The thread has this CPU. Records that it got it, now, if a hidden thread had it before. Only with interrupts off.
 * thread may be NULL, for the verifier; it is the current one's.
 */
int hidden_return(struct thread_state *thread);
