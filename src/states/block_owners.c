/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "states/block_owners.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "states/state_block.h"
#include "values.h"

enum { NO_CPU = UINT32_MAX };

struct ownership {
	const struct state_block *block;
	uint32_t *cpu_of; /* of the thread at a place: NO_CPU */
	uint32_t *has;    /* on a CPU: the place of the thread plus 1 */
	void (*on_change)(void *data, const struct owner_change *change);
	void *data;
};

/* In the block from its beginning on at the earliest. */
static void change_owner(struct ownership *o, uint64_t since_ns, uint32_t cpu, uint32_t thread, uint32_t tid,
			 bool is_known)
{
	uint64_t first_ns = o->block->first_ns;

	o->on_change(o->data, &(struct owner_change){
				      .time_ns = since_ns > first_ns ? since_ns : first_ns,
				      .since_ns = since_ns,
				      .cpu = cpu,
				      .thread = thread,
				      .tid = tid,
				      .is_known = is_known,
			      });
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
	change_owner(o, time_ns, cpu, o->block->threads[place].number, 0, true);
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
	const struct state_block *block = o->block;

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

void block_owners_each(const struct state_block *block,
		       void (*on_change)(void *data, const struct owner_change *change), void *data)
{
	struct ownership o = {
		.block = block,
		.cpu_of = xcalloc(block->thread_count + 1, sizeof(*o.cpu_of)),
		.has = xcalloc(CPUS_MAX, sizeof(*o.has)),
		.on_change = on_change,
		.data = data,
	};

	memset(o.cpu_of, 0xff, block->thread_count * sizeof(*o.cpu_of));
	follow_owners(&o);
	free(o.cpu_of);
	free(o.has);
}
