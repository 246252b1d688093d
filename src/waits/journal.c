/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/journal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

struct entry {
	void *place;
	size_t size_bytes;
	char bytes[];
};

struct journal {
	struct arena *arena; /* NULL: nothing has been saved or allocated */
	struct table *by_place;
};

struct journal *journal_new(void)
{
	return xcalloc(1, sizeof(struct journal));
}

static void forget(struct journal *journal)
{
	arena_free(journal->arena);
	table_free(journal->by_place);
	*journal = (struct journal){ 0 };
}

void journal_free(struct journal *journal)
{
	if (!journal)
		return;
	forget(journal);
	free(journal);
}

void *journal_alloc(struct journal *journal, size_t size_bytes)
{
	if (!journal->arena) {
		journal->arena = arena_new();
		journal->by_place = table_new();
	}
	return arena_alloc(journal->arena, size_bytes);
}

void journal_save(struct journal *journal, void *place, size_t size_bytes)
{
	uint64_t key = (uintptr_t)place;
	struct entry *entry;

	if (journal->by_place && table_find(journal->by_place, key))
		return;
	entry = journal_alloc(journal, sizeof(*entry) + size_bytes);
	entry->place = place;
	entry->size_bytes = size_bytes;
	memcpy(entry->bytes, place, size_bytes);
	table_put(journal->by_place, key, entry);
}

void journal_undo(struct journal *journal)
{
	struct entry *entry;
	size_t cursor = 0;

	while (journal->by_place && (entry = table_next(journal->by_place, &cursor)))
		memcpy(entry->place, entry->bytes, entry->size_bytes);
	forget(journal);
}
