/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What those who answer questions about the history share. */
#pragma once

#include "states/block_owners.h"
#include "states/state_block.h"
#include "states/state_gaps.h"
#include "states/states.h"

struct late_causes;
struct share_index;
struct thread_windows;

enum { NO_THREAD = UINT32_MAX };
#define AT_ORIGIN ((size_t)-1)

/* A block with the ways through it, as far as somebody needed them. */
struct open_block {
	size_t number; /* among the blocks */
	uint64_t used; /* when, by a count of uses */
	struct state_block block;
	uint32_t *by_number;         /* places of threads, in the order of their numbers */
	uint32_t *starts, *order;    /* records of the thread at place i: order[starts[i] .. starts[i + 1]) */
	struct owner_change *owners; /* of one CPU after the other, each in time order */
	size_t owner_count, owner_capacity;
};

enum block_need {
	BLOCK_RECORDS,
	BLOCK_THREADS, /* open_block_find(), and the records of each thread */
	BLOCK_OWNERS,
};

/* NULL: it is damaged. Valid until the next call but seven. */
const struct open_block *states_block(struct states *states, size_t number, enum block_need need);
size_t states_block_count(const struct states *states);

/* The last block that begins at or before time_ns, or the first one. There must be one. */
size_t states_block_at(const struct states *states, uint64_t time_ns);

/* When the block begins of which records there are; SIZE_MAX and the like: the end of all. */
uint64_t states_block_begin_ns(const struct states *states, size_t number);

/* Where a thread is in the block, which has BLOCK_THREADS; or NO_THREAD. */
uint32_t open_block_find(const struct open_block *block, uint32_t thread);

/* The first block after this one in which the thread changes; SIZE_MAX: there is none. */
size_t states_next_block(struct states *states, uint32_t thread, size_t after);

/* Never NULL. */
const struct late_causes *states_late_causes(const struct states *states);

/* The summaries of threads, and those of CPUs. */
struct share_index *states_share_index(const struct states *states);
struct share_index *states_cpu_index(const struct states *states);

/* The changes of threads of several blocks at once, where these are many. */
struct thread_windows *states_thread_windows(const struct states *states);

/* open_block.c */
void open_block_index(struct open_block *open, enum block_need need);
void open_block_fini(struct open_block *block);
