/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The wakers of a call path or of a lock: a list with those that wake most often in front, for they
 * are looked up each time. Its rows are of the arena.
 */
#pragma once

#include <stdint.h>

#include "waits/sums/ended_wait.h"

struct arena;

/* Adds to the list of wakers. */
void wait_wakers_add(struct arena *arena, struct wait_waker **list, const struct wait_end *end, uint64_t wait_ns);

/* A wait in the list that counts as ended by what was lost turns out to be ended by what is hidden. */
void wait_wakers_hide(struct arena *arena, struct wait_waker **list, uint64_t wait_ns, double weight);

/* So many waits, alike in weight, that time ended are those of end, too, as parts of one: cmetric_ns of end's is for them. */
void wait_wakers_move(struct arena *arena, struct wait_waker **list, const struct wait_end *end, uint64_t count,
		      uint64_t wait_ns, uint64_t cmetric_ns, double weight);

/* A number that is the same for names that differ in numbers only. */
uint64_t wait_name_group(const char *name);
