/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/seen_definitions.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "trace/prologue/prologue_facts_internal.h"

/* Whether further ones were recorded is unknown: they may be recorded twice. */
enum { RECORDED_MAX = 4 << 20 };

struct seen_definitions {
	struct table *table; /* by what they tell, with no more than that */
};

struct seen_definitions *seen_definitions_new(void)
{
	struct seen_definitions *recorded = xcalloc(1, sizeof(*recorded));

	recorded->table = table_new();
	return recorded;
}

void seen_definitions_free(struct seen_definitions *recorded)
{
	if (!recorded)
		return;
	table_free(recorded->table);
	free(recorded);
}

static bool describes_thread(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_THREAD &&
	       (header->event == TRACE_EVENT_THREAD_BORN || header->event == TRACE_EVENT_THREAD_FOUND);
}

static bool emits(const struct ev_header *header, uint64_t *key)
{
	enum fact_kind kind;

	if (describes_thread(header)) {
		kind = FACT_KINDS;
		*key = header->thread;
	} else if (!prologue_facts_emit(header, &kind, key)) {
		return false;
	}
	*key = hash_u64(*key ^ hash_u64(kind));
	return true;
}

bool seen_definitions_note(struct seen_definitions *recorded, const struct ev_header *header)
{
	uint64_t key;

	if (!emits(header, &key))
		return true;
	if (table_find(recorded->table, key))
		return false;
	if (table_count(recorded->table) < RECORDED_MAX)
		table_put(recorded->table, key, recorded);
	return true;
}
