/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Locks of the kernel that a thread has, and since when. */
#pragma once

#include "state.bpf.h"

static __always_inline struct klock_hold *hold_find(struct thread_state *thread, __u64 address)
{
	for (int i = 0; i < KLOCK_HOLDS_AT_ONCE; i++)
		if (thread->klock_holds[i].address == address)
			return &thread->klock_holds[i];
	return NULL;
}

static __always_inline struct klock_held *held_find(__u64 lock, __u64 kind)
{
	struct klock_held_key key = { lock, kind };

	return bpf_map_lookup_elem(&klocks_held, &key);
}

/* What was taken to be had is not. */
static __always_inline void hold_give_up(struct klock_hold *hold)
{
	struct klock_held *held = held_find(hold->lock, hold->kind);

	hold->address = 0;
	if (held)
		__sync_fetch_and_add(&held->taken, -1);
}

/*
 * The wait for a lock is over that the thread was taking: it has it from now on, unless it gave up. What the function
 * returns says so again, where the kernel had space to note that it was called.
 */
static __always_inline void hold_waited(struct thread_state *thread, __u64 address, bool gave_up)
{
	struct klock_hold *hold = hold_find(thread, address);

	if (!hold)
		return;
	if (gave_up)
		hold_give_up(hold);
	else
		hold->since_ns = bpf_ktime_get_ns();
}
