/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits whose stack was not kept: exactly how many there were and how long, by what they were for. Estimates of
 * where they were cannot be more than that. Owns the rows, which stay until wait_unseen_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "waits/sums/open_wait.h"
#include "waits/sums/wait_amounts.h"

struct journal;
struct wait_unseen;

struct wait_unseen_row {
	uint64_t space, object; /* see wait_space() */
	enum wait_cause cause;
	bool is_others; /* of its cause, all that found no space */
	struct wait_classes classes;
	uint64_t max_ns;              /* the longest one */
	struct wait_unseen_row *next; /* of the same hash */
};

/*
 * In which address space the object of such a wait has its meaning, as a number: 0 for what means the same to all
 * processes, a kernel lock, a file or a place in one. A locked file that is unknown is its process's own.
 */
uint64_t wait_space(const struct wait_facts *facts, enum wait_cause cause, uint32_t pid, uint32_t exec_count);

struct wait_unseen *wait_unseen_new(void);
void wait_unseen_free(struct wait_unseen *unseen);

/* journal: can undo it; NULL: it stays. Returns the row. */
struct wait_unseen_row *wait_unseen_add(struct wait_unseen *unseen, const struct thread *thread, struct open_wait *wait,
					uint64_t wait_ns, uint64_t idle_ns, struct journal *journal);

/* NULL: there was none. */
const struct wait_unseen_row *wait_unseen_find(const struct wait_unseen *unseen, uint64_t space, enum wait_cause cause,
					       uint64_t object);

/* Walk with *cursor = 0; NULL ends. */
const struct wait_unseen_row *wait_unseen_next(const struct wait_unseen *unseen, size_t *cursor);
