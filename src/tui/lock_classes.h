/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of one class: the same kind, and the same name or, when they have none, waited for in the
 * same function, as the locks are that each object of a type has.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report;
struct report_lock;
struct rows;

struct lock_class {
	const struct report_lock *const *locks;	/* in the report's order; at least one */
	size_t lock_count;
	uint64_t wait_ns, idle_ns, max_ns, waits, unlock_max_ns;
	uint64_t key;
};

/* By time lost, longest first; valid as long as the rows. What is no lock is left out. */
const struct lock_class *lock_classes(struct rows *rows, const struct report *report,
				      size_t *count);
