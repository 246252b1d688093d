/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of one class: the same kind, and the same name or, when they have none, waited for in the
 * same function, as the locks are that each object of a type has; or where that is unknown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report.h"

struct arena;
struct page;

struct lock_class {
	const struct report_lock *const *locks; /* in the report's order; at least one */
	size_t lock_count;
	/*
	 * Their figures: wait_ns, idle_ns, waits, holds and hold_ns are sums. p50_ns, p99_ns and max_ns are the largest
	 * of one lock: so many of all waits were as short.
	 */
	struct report_lock all;
	uint64_t unlock_max_ns;
	uint64_t key;
};

/* By time lost, longest first, in memory of the arena. What is not a lock is left out. */
const struct lock_class *lock_classes(struct arena *arena, const struct report *report, size_t *count);

/* The class of one lock alone. */
struct lock_class lock_class_of(const struct report_lock *const *lock);

/*
 * "3 mutex locks in f": what they are called, in bold, and of what kind they are. shows_address: also
 * that of one without a name, of which there may be others at the same place.
 */
void lock_class_put_name(struct page *page, const struct lock_class *class, bool shows_address);
