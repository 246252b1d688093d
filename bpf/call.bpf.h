/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* System calls, as their tracepoints tell of them. */
#pragma once

#include "state.bpf.h"

/* Calls of 32 bits have numbers of their own. */
static __always_inline bool is_foreign(const struct pt_regs *regs)
{
	return regs->orig_ax >= SYSCALLS_MAX || bpf_get_current_task_btf()->thread_info.status & COMPAT_STATUS;
}
