/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What those who answer questions about the history share. */
#pragma once

#include "states/state_block.h"
#include "states/state_gaps.h"
#include "states/states.h"

struct share_index;

enum { NO_THREAD = UINT32_MAX };
#define AT_ORIGIN ((size_t)-1)

/* A block with the ways through it. */
struct open_block {
	size_t number; /* among the blocks */
	uint64_t used; /* when, by a count of uses */
	struct state_block block;
	uint32_t *by_number;      /* places of threads, in the order of their numbers */
	uint32_t *starts, *order; /* records of the thread at place i: order[starts[i] .. starts[i + 1]) */
	struct owner_change {     /* of one CPU after the other, each in time order */
		uint64_t time_ns;
		uint64_t since_ns; /* may be before the block */
		uint32_t cpu, thread, tid;
		bool is_known;
	} * owners;
	size_t owner_count;
};

/* NULL: it is damaged. Valid until the next call but seven. */
const struct open_block *states_block(struct states *states, size_t number);
size_t states_block_count(const struct states *states);

/* The last block that begins at or before time_ns, or the first one. There must be one. */
size_t states_block_at(const struct states *states, uint64_t time_ns);

/* When the block begins of which records there are; SIZE_MAX and the like: the end of all. */
uint64_t states_block_begin_ns(const struct states *states, size_t number);

/* Where a thread is in the block, or NO_THREAD. */
uint32_t open_block_find(const struct open_block *block, uint32_t thread);

/* The first block after this one in which the thread changes; SIZE_MAX: there is none. */
size_t states_next_block(struct states *states, uint32_t thread, size_t after);

struct share_index *states_share_index(const struct states *states);

/* open_block.c */
void open_block_index(struct open_block *block);
void open_block_fini(struct open_block *block);
