/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who has which CPU in a block: follows from who begins to run and who stops. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct state_block;

/* From time_ns on, in the block, a CPU has this owner. */
struct owner_change {
	uint64_t time_ns;
	uint64_t since_ns; /* may be before the block */
	uint32_t cpu;
	uint32_t thread, tid; /* a traced thread's number, or 0; another one's tid; 0: nobody */
	bool is_known;
};

/* Calls on_change in time order. What there is to say of the block's beginning comes first. */
void block_owners_each(const struct state_block *block,
		       void (*on_change)(void *data, const struct owner_change *change), void *data);
