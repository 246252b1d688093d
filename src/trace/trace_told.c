/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "trace/trace_told.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "trace/prologue/prologue_facts_internal.h"

/* Of what is more nobody knows whether it was told: it may be told twice. */
enum { TOLD_MAX = 4 << 20 };

struct trace_told {
	struct table *table; /* by what they tell, with no more than that */
};

struct trace_told *trace_told_new(void)
{
	struct trace_told *told = xcalloc(1, sizeof(*told));

	told->table = table_new();
	return told;
}

void trace_told_free(struct trace_told *told)
{
	if (!told)
		return;
	table_free(told->table);
	free(told);
}

static bool describes_thread(const struct ev_header *header)
{
	return header->subsys == TRACE_SUBSYS_THREAD &&
	       (header->event == TRACE_EVENT_THREAD_BORN || header->event == TRACE_EVENT_THREAD_FOUND);
}

static bool tells(const struct ev_header *header, uint64_t *key)
{
	enum fact_kind kind;

	if (describes_thread(header)) {
		kind = FACT_KINDS;
		*key = header->thread;
	} else if (!prologue_facts_tell(header, &kind, key)) {
		return false;
	}
	*key = hash_u64(*key ^ hash_u64(kind));
	return true;
}

bool trace_told_note(struct trace_told *told, const struct ev_header *header)
{
	uint64_t key;

	if (!tells(header, &key))
		return true;
	if (table_find(told->table, key))
		return false;
	if (table_count(told->table) < TOLD_MAX)
		table_put(told->table, key, told);
	return true;
}
