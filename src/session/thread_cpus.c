/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session/thread_cpus.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "values.h"

struct thread_cpus {
	struct table *table; /* by thread; the value is the CPU's number + 1 */
};

struct thread_cpus *thread_cpus_new(void)
{
	struct thread_cpus *cpus = xcalloc(1, sizeof(*cpus));

	cpus->table = table_new();
	return cpus;
}

void thread_cpus_free(struct thread_cpus *cpus)
{
	if (!cpus)
		return;
	table_free(cpus->table);
	free(cpus);
}

static void put(struct thread_cpus *cpus, uint32_t thread, uint16_t cpu)
{
	if (thread)
		table_put(cpus->table, thread, (void *)((uintptr_t)cpu + 1));
}

void thread_cpus_follow(struct thread_cpus *cpus, const struct ev_header *header)
{
	const struct ev_sched_switch *to = (const void *)header;
	const struct ev_thread_found *found = (const void *)header;

	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		put(cpus, header->thread, to->cpu);
		put(cpus, to->next, to->cpu);
		if (header->thread && to->state == SWITCH_DEAD)
			table_take(cpus->table, header->thread);
		break;
	case EV_THREAD_FOUND:
		if (found->phase == PHASE_RUNNING)
			put(cpus, header->thread, found->cpu);
		break;
	}
}

int32_t thread_cpus_find(const struct thread_cpus *cpus, uint32_t thread)
{
	uintptr_t value = (uintptr_t)table_find(cpus->table, thread);

	return (int32_t)value - 1;
}
