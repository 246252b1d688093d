/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits by call path: owns the rows, which stay until wait_paths_free(). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "waits/sums/ended_wait.h"

struct journal;
struct wait_paths;

struct wait_paths *wait_paths_new(void);
void wait_paths_free(struct wait_paths *paths);
struct wait_path *wait_paths_get(struct wait_paths *paths, const struct thread *thread, uint64_t stack,
				 const struct open_wait *wait);

/* weight: the waits that this one stands for. */
void wait_path_add(struct wait_paths *paths, struct wait_path *path, const struct thread *thread,
		   const struct open_wait *wait, uint64_t wait_ns, uint64_t idle_ns, double weight,
		   const struct wait_end *end);

/* The same for an open wait: the journal can undo it. */
void wait_path_add_open(struct wait_path *path, const struct thread *thread, const struct open_wait *wait,
			uint64_t wait_ns, uint64_t idle_ns, double weight, struct journal *journal);

/* Of the time of a wait of such a length, so much (or below 0, so much less) was idle than was added. */
void wait_path_move_idle(struct wait_path *path, uint64_t wait_ns, double idle_ns, double weight);

/* wait_wakers_move() of its wakers. */
void wait_path_move_waker(struct wait_paths *paths, struct wait_path *path, const struct wait_end *end, uint64_t count,
			  uint64_t wait_ns, uint64_t cmetric_ns, double weight);

/* Those that have waits. */
const struct wait_path *wait_paths_next(const struct wait_paths *paths, size_t *cursor);
