/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Locks of the kernel by name. What they are part of is found where they are waited for, from what the
 * current thread is about; a lock is recorded once, by a klock.LOCK; then its name is enough.
 */
#pragma once

#include "state.bpf.h"

/*
 * The name of the lock at an address that the current thread, or what interrupted it, waits for, recorded if it
 * is new. kind: enum klock_kind; context: enum wake_context, of who waits.
 */
__u64 klock_name(__u64 address, __u32 kind, __u32 context);

/* Records the open waits of a thread that sleeps. */
int klocks_emit_lasting(struct thread_state *thread, __u32 tid);
