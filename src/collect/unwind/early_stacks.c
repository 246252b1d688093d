/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/unwind/early_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/event_kinds.h"

enum { BYTES_MAX = 8 << 20 };

struct early {
	struct early *next;
	_Alignas(8) char event[];
};

struct early_stacks {
	struct early *first, **end;
	size_t bytes;
};

struct early_stacks *early_stacks_new(void)
{
	struct early_stacks *stacks = xcalloc(1, sizeof(*stacks));

	stacks->end = &stacks->first;
	return stacks;
}

void early_stacks_free(struct early_stacks *stacks)
{
	struct early *early;

	if (!stacks)
		return;
	while ((early = stacks->first)) {
		stacks->first = early->next;
		free(early);
	}
	free(stacks);
}

bool early_stacks_add(struct early_stacks *stacks, const struct ev_stack_memory *e)
{
	size_t size_bytes = event_bytes(&e->header);
	struct early *early;

	if (stacks->bytes + size_bytes > BYTES_MAX)
		return false;
	early = xcalloc(1, sizeof(*early) + size_bytes);
	memcpy(early->event, e, size_bytes);
	*stacks->end = early;
	stacks->end = &early->next;
	stacks->bytes += size_bytes;
	return true;
}

static const struct ev_stack_memory *event_of(const struct early *early)
{
	return (const struct ev_stack_memory *)early->event;
}

size_t early_stacks_count(const struct early_stacks *stacks, uint32_t pid)
{
	size_t count = 0;

	for (const struct early *early = stacks->first; early; early = early->next)
		count += event_of(early)->pid == pid;
	return count;
}

void early_stacks_take(struct early_stacks *stacks, bool (*is_ready)(void *data, uint32_t pid),
		       void (*on_stack)(void *data, const struct ev_stack_memory *e), void *data)
{
	struct early **link = &stacks->first, *early;

	while ((early = *link)) {
		if (!is_ready(data, event_of(early)->pid)) {
			link = &early->next;
			continue;
		}
		*link = early->next;
		stacks->bytes -= event_bytes(&event_of(early)->header);
		on_stack(data, event_of(early));
		free(early);
	}
	stacks->end = link;
}
