/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "states/states_internal.h"

struct by_number {
	uint32_t number, place;
};

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = ((const struct by_number *)a)->number, y = ((const struct by_number *)b)->number;

	return (x > y) - (x < y);
}

static void index_threads(struct open_block *open)
{
	size_t count = open->block.thread_count;
	struct by_number *sorted = xcalloc(count + !count, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct by_number){ open->block.threads[i].number, i };
	qsort(sorted, count, sizeof(*sorted), compare_numbers);
	open->by_number = xcalloc(count + !count, sizeof(*open->by_number));
	for (size_t i = 0; i < count; i++)
		open->by_number[i] = sorted[i].place;
	free(sorted);
}

static void index_records(struct open_block *open)
{
	const struct state_block *block = &open->block;
	uint32_t *at;

	open->starts = xcalloc(block->thread_count + 1, sizeof(*open->starts));
	open->order = xcalloc(block->record_count + !block->record_count, sizeof(*open->order));
	for (size_t i = 0; i < block->record_count; i++)
		if (block->records[i].kind != RECORD_OWNER)
			open->starts[block->records[i].who + 1]++;
	for (size_t i = 0; i < block->thread_count; i++)
		open->starts[i + 1] += open->starts[i];
	at = xcalloc(block->thread_count + 1, sizeof(*at));
	memcpy(at, open->starts, block->thread_count * sizeof(*at));
	for (size_t i = 0; i < block->record_count; i++)
		if (block->records[i].kind != RECORD_OWNER)
			open->order[at[block->records[i].who]++] = i;
	free(at);
}

/* Stable: by CPU; those of one stay in time order. */
static void sort_owners(struct open_block *open)
{
	struct owner_change *sorted = xcalloc(open->owner_count + 1, sizeof(*sorted));
	uint32_t *starts = xcalloc(CPUS_MAX + 1, sizeof(*starts));

	for (size_t i = 0; i < open->owner_count; i++)
		starts[open->owners[i].cpu + 1]++;
	for (size_t cpu = 0; cpu < CPUS_MAX; cpu++)
		starts[cpu + 1] += starts[cpu];
	for (size_t i = 0; i < open->owner_count; i++)
		sorted[starts[open->owners[i].cpu]++] = open->owners[i];
	free(starts);
	free(open->owners);
	open->owners = sorted;
}

static void add_owner(void *data, const struct owner_change *change)
{
	struct open_block *open = data;

	ARRAY_GROW(open->owners, open->owner_count, open->owner_capacity, 1024);
	open->owners[open->owner_count++] = *change;
}

static void index_owners(struct open_block *open)
{
	block_owners_each(&open->block, add_owner, open);
	sort_owners(open);
}

void open_block_index(struct open_block *open, enum block_need need)
{
	if (need == BLOCK_THREADS && !open->by_number) {
		index_threads(open);
		index_records(open);
	}
	if (need == BLOCK_OWNERS && !open->owners)
		index_owners(open);
}

void open_block_fini(struct open_block *block)
{
	state_block_fini(&block->block);
	free(block->by_number);
	free(block->starts);
	free(block->order);
	free(block->owners);
	*block = (struct open_block){ 0 };
}

uint32_t open_block_find(const struct open_block *open, uint32_t thread)
{
	const struct state_block *block = &open->block;
	size_t low = BOUND(0, block->thread_count, i, block->threads[open->by_number[i]].number < thread);

	if (low == block->thread_count || block->threads[open->by_number[low]].number != thread)
		return NO_THREAD;
	return open->by_number[low];
}
