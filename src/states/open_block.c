/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "states/states_internal.h"

enum { NO_CPU = UINT32_MAX };

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

/* Follows who gets a CPU and who leaves it. */
struct ownership {
	struct open_block *open;
	uint32_t *cpu_of; /* of the thread at a place: NO_CPU */
	uint32_t *has;    /* on a CPU: the place of the thread plus 1 */
	size_t capacity;
};

/* In the block from its beginning on at the earliest. */
static void change_owner(struct ownership *o, uint64_t since_ns, uint32_t cpu, uint32_t thread, uint32_t tid,
			 bool is_known)
{
	struct open_block *open = o->open;
	uint64_t first_ns = open->block.first_ns;

	ARRAY_GROW(open->owners, open->owner_count, o->capacity, 1024);
	open->owners[open->owner_count++] = (struct owner_change){
		since_ns > first_ns ? since_ns : first_ns, since_ns, cpu, thread, tid, is_known,
	};
}

static void leave_cpu(struct ownership *o, uint64_t time_ns, uint32_t place)
{
	uint32_t cpu = o->cpu_of[place];

	o->cpu_of[place] = NO_CPU;
	if (cpu == NO_CPU || o->has[cpu] != place + 1)
		return;
	o->has[cpu] = 0;
	change_owner(o, time_ns, cpu, 0, 0, false);
}

static void take_cpu(struct ownership *o, uint64_t time_ns, uint32_t place, uint32_t cpu)
{
	leave_cpu(o, time_ns, place);
	if (cpu >= CPUS_MAX)
		return;
	o->cpu_of[place] = cpu;
	o->has[cpu] = place + 1;
	change_owner(o, time_ns, cpu, o->open->block.threads[place].number, 0, true);
}

static void other_takes_cpu(struct ownership *o, uint64_t time_ns, uint32_t cpu, uint32_t tid)
{
	if (cpu >= CPUS_MAX)
		return;
	o->has[cpu] = 0;
	change_owner(o, time_ns, cpu, 0, tid == OWNER_UNKNOWN ? 0 : tid, tid != OWNER_UNKNOWN);
}

static void follow_owners(struct ownership *o)
{
	const struct state_block *block = &o->open->block;

	for (size_t i = 0; i < block->owner_count; i++)
		other_takes_cpu(o, block->owners[i].since_ns, block->owners[i].number, block->owners[i].value);
	for (size_t i = 0; i < block->thread_count; i++)
		if (state_is_on_cpu(block->threads[i].kind))
			take_cpu(o, block->threads[i].since_ns, i, block->threads[i].value);
	for (size_t i = 0; i < block->record_count; i++) {
		const struct state_record *record = &block->records[i];

		if (record->kind == RECORD_OWNER)
			other_takes_cpu(o, record->time_ns, record->who, record->value);
		else if (state_is_on_cpu(record->kind))
			take_cpu(o, record->time_ns, record->who, record->value);
		else if (record->kind != RECORD_WOKEN)
			leave_cpu(o, record->time_ns, record->who);
	}
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

static void index_owners(struct open_block *open)
{
	struct ownership o = {
		.open = open,
		.cpu_of = xcalloc(open->block.thread_count + 1, sizeof(*o.cpu_of)),
		.has = xcalloc(CPUS_MAX, sizeof(*o.has)),
	};

	memset(o.cpu_of, 0xff, open->block.thread_count * sizeof(*o.cpu_of));
	follow_owners(&o);
	free(o.cpu_of);
	free(o.has);
	sort_owners(open);
}

void open_block_index(struct open_block *block)
{
	index_threads(block);
	index_records(block);
	index_owners(block);
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
