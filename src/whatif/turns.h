/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn comes when: the earliest first, of several the one that was added first. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct turns {
	struct turn {
		uint64_t time_ns, number;
		uint32_t life;
	} * heap;
	size_t count, capacity;
	uint64_t added;
};

/* At most so many at a time. */
void turns_init(struct turns *turns, size_t count_max);
void turns_fini(struct turns *turns);

void turns_add(struct turns *turns, uint64_t time_ns, uint32_t life);

/* False: there is none. */
bool turns_take(struct turns *turns, uint64_t *time_ns, uint32_t *life);
