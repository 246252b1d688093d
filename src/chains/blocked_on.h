/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads were blocked on: for each call path that waited and each lock, what those who were waited for did
 * meanwhile. When a wait ends by a traced thread, its time is walked backwards: where that thread ran, or had no CPU,
 * is what the wait was spent on; where it waited itself, the walk goes on with whoever ended that, and so on, as
 * Algorithm 1 of wPerf (Zhou et al., OSDI 2018) goes from waits to wakers. So all of the time that waits took is added
 * to exactly one of the sums (doc/metrics.md, "Blocked on"). Owns all it hands out, which stays until blocked_on_free().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "chains/blocked_sum.h"
#include "chains/past.h"

struct blocked_on;

/* find: the past of a thread by its number; NULL: it is gone. budget: that of all pasts. */
struct blocked_on *blocked_on_new(struct past *(*find)(void *data, uint32_t thread), void *data,
				  struct chain_budget *budget);
void blocked_on_free(struct blocked_on *blocked);

/*
 * The waker, whose past it is, has ended a wait. keys: what it is added to (a wait path, a lock), with how many waits
 * it stands for there; a NULL key is skipped. path: where it waited, then what is behind waits of others is kept apart by
 * where these waited; NULL: it is not.
 */
struct blocked_key {
	const void *key;
	double weight;
	const struct wait_path *path;
};

void blocked_on_end(struct blocked_on *blocked, struct past *waker, uint64_t begin_ns, uint64_t end_ns,
		    const struct blocked_key *keys, size_t key_count);

/*
 * A thread that could run got a CPU after a wait for it: what ran there meanwhile, as far as threads are traced, is
 * added to the sum of all such waits. cpu: samples of that CPU.
 */
void blocked_on_end_cpu_wait(struct blocked_on *blocked, struct past *cpu, uint64_t begin_ns, uint64_t end_ns);

/* That sum: its code alone means something. */
const struct blocked_sum *blocked_on_cpu_sum(const struct blocked_on *blocked);

/*
 * Has the life of the past, which wants it, sum up what it did before its current part. Of many waits not each is
 * walked back: one stands for several, which it is chosen from as often as it is long (systematic sampling with
 * probability proportional to size, W. G. Madow 1949); what it does not stand for yet is pending.
 */
void blocked_on_extend_life(struct blocked_on *blocked, struct past *past);

/* What was added to the key; NULL: nothing. */
const struct blocked_sum *blocked_on_sum(const struct blocked_on *blocked, const void *key);
