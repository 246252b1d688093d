/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each process has a list of spaces, the newest first. A space holds only what was mapped
 * since it began; for the rest a forked one looks into the space it was copied from, as
 * that was at the time of the fork.
 */
#include "symbol/space/space_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"

/* A process that has ended: it may be asked for until room is needed. */
struct ended {
	uint32_t pid, space; /* its newest one then, by number */
};

enum {
	ENDED_MAX = 16384,   /* as many as there are rows of threads */
	ENTRIES_MAX = 16384, /* in one space: twice the mappings of the largest programs seen */
	BASES_MAX = 16,      /* forks of forks that each mapped something of their own */
};

struct spaces {
	struct table *newest; /* by pid, + 1 since pid 0 is a key too */
	size_t space_count, mapping_count, count_max;
	size_t retry_count; /* refusals until it is worth looking for room again */
	uint64_t dropped;
	uint32_t last_number, last_order;
	struct ended ended[ENDED_MAX];
	size_t ended_begin, ended_count; /* a ring: the one that ended first, and how many there are */
	void (*on_forget)(void *data, uint32_t space);
	void *forget_data;
};

struct spaces *spaces_new(size_t count_max)
{
	struct spaces *spaces = xcalloc(1, sizeof(*spaces));

	spaces->newest = table_new();
	spaces->count_max = count_max;
	return spaces;
}

/* Frees a space without users, and those below it that were only kept for it. */
static void space_free(struct spaces *spaces, struct space *space)
{
	while (space) {
		struct space *base = space->base;

		if (spaces->on_forget)
			spaces->on_forget(spaces->forget_data, space->number);
		spaces->space_count--;
		spaces->mapping_count -= space->count;
		free(space->entries);
		free(space);
		if (!base || --base->user_count || !base->is_forgotten)
			break;
		space = base;
	}
}

static void space_release(struct spaces *spaces, struct space *space)
{
	if (space->user_count)
		space->is_forgotten = true;
	else
		space_free(spaces, space);
}

/* A process's spaces, from this one on. */
static void release_all(struct spaces *spaces, struct space *space)
{
	while (space) {
		struct space *older = space->older;

		space_release(spaces, space);
		space = older;
	}
}

void spaces_forget(struct spaces *spaces, uint32_t pid)
{
	release_all(spaces, table_take(spaces->newest, (uint64_t)pid + 1));
}

/* True: there is a space less. */
static bool forget_ended(struct spaces *spaces)
{
	while (spaces->ended_count) {
		struct ended ended = spaces->ended[spaces->ended_begin];
		struct space *newest = table_find(spaces->newest, (uint64_t)ended.pid + 1), *newer = NULL;
		struct space *space = newest;

		spaces->ended_begin = (spaces->ended_begin + 1) % ENDED_MAX;
		spaces->ended_count--;
		while (space && space->number > ended.space) {
			newer = space;
			space = space->older;
		}
		if (!space)
			continue;
		if (newer)
			newer->older = NULL;
		else
			table_take(spaces->newest, (uint64_t)ended.pid + 1);
		release_all(spaces, space);
		return true;
	}
	return false;
}

void spaces_exit(struct spaces *spaces, uint32_t pid)
{
	const struct space *newest = table_find(spaces->newest, (uint64_t)pid + 1);

	if (!newest)
		return;
	if (spaces->ended_count == ENDED_MAX)
		forget_ended(spaces);
	spaces->ended[(spaces->ended_begin + spaces->ended_count++) % ENDED_MAX] =
		(struct ended){ pid, newest->number };
}

void spaces_on_forget(struct spaces *spaces, void (*on_forget)(void *data, uint32_t space), void *data)
{
	spaces->on_forget = on_forget;
	spaces->forget_data = data;
}

void spaces_free(struct spaces *spaces)
{
	struct space *space;
	size_t cursor = 0;

	if (!spaces)
		return;
	spaces->on_forget = NULL;
	while ((space = table_next(spaces->newest, &cursor)))
		release_all(spaces, space);
	table_free(spaces->newest);
	free(spaces);
}

static struct space *space_newest(const struct spaces *spaces, uint32_t pid)
{
	return table_find(spaces->newest, (uint64_t)pid + 1);
}

struct space *space_at(const struct spaces *spaces, uint32_t pid, uint64_t time_ns)
{
	struct space *space = space_newest(spaces, pid);

	while (space && space->from_ns > time_ns && space->older)
		space = space->older;
	return space;
}

/* Drops the spaces that an exec or a reused pid has replaced: the least likely to be asked for. */
static void reclaim(struct spaces *spaces)
{
	struct space *space;
	size_t cursor = 0;

	while ((space = table_next(spaces->newest, &cursor))) {
		struct space *older = space->older;

		space->older = NULL;
		release_all(spaces, older);
	}
}

static bool has_space(struct spaces *spaces)
{
	size_t enough = spaces->count_max - spaces->count_max / 16;

	if (spaces->space_count + spaces->mapping_count < spaces->count_max)
		return true;
	while (forget_ended(spaces))
		if (spaces->space_count + spaces->mapping_count < spaces->count_max)
			return true;
	if (spaces->retry_count) {
		spaces->retry_count--;
	} else {
		reclaim(spaces);
		if (spaces->space_count + spaces->mapping_count <= enough)
			return true;
		/* A walk over all costs as much as the refusals that follow a fruitless one. */
		spaces->retry_count = spaces->count_max / 16;
	}
	spaces->dropped++;
	return false;
}

static struct space *space_begin(struct spaces *spaces, uint32_t pid, uint64_t from_ns)
{
	struct space *older, *space;

	/* Making room may free spaces: look at the list only afterwards. */
	if (!has_space(spaces))
		return NULL;
	older = space_newest(spaces, pid);
	space = xcalloc(1, sizeof(*space));
	space->older = older;
	space->from_ns = from_ns;
	space->number = ++spaces->last_number;
	table_put(spaces->newest, (uint64_t)pid + 1, space);
	spaces->space_count++;
	return space;
}

void spaces_exec(struct spaces *spaces, uint32_t pid, uint64_t time_ns)
{
	/* Without space for a new space the old one must not be taken for it. */
	if (!space_begin(spaces, pid, time_ns))
		spaces_forget(spaces, pid);
}

size_t space_lower_bound(const struct space *space, uint64_t address)
{
	return BOUND(0, space->count, i, space->entries[i].start < address);
}

static const struct entry *find_in(const struct space *space, uint64_t time_ns, uint64_t address)
{
	const struct entry *best = NULL;
	size_t i = space_lower_bound(space, address + 1);

	while (i-- && space->entries[i].reach > address) {
		const struct entry *e = &space->entries[i];

		if (e->end <= address || e->from_ns > time_ns)
			continue;
		if (!best || e->from_ns > best->from_ns || (e->from_ns == best->from_ns && e->order > best->order))
			best = e;
	}
	return best;
}

const struct entry *space_find(const struct space *space, uint64_t time_ns, uint64_t address)
{
	/* Found mappings have the beginning of the space; a time before it is lost order. */
	if (time_ns < space->from_ns)
		time_ns = space->from_ns;
	for (;;) {
		const struct entry *entry = find_in(space, time_ns, address);

		if (entry || !space->base)
			return entry;
		if (time_ns > space->base_ns)
			time_ns = space->base_ns;
		space = space->base;
	}
}

bool spaces_find(const struct spaces *spaces, uint32_t pid, uint64_t time_ns, uint64_t address, struct space_hit *hit)
{
	const struct space *space = space_at(spaces, pid, time_ns);
	const struct entry *entry;

	*hit = (struct space_hit){ 0 };
	if (!space)
		return false;
	hit->space = space->number;
	hit->base = space->base ? space->base->number : 0;
	entry = space_find(space, time_ns, address);
	if (entry) {
		hit->is_mapped = true;
		hit->mapping = (struct mapping){
			.start = entry->start,
			.end = entry->end,
			.file_offset = entry->file_offset,
			.module = entry->module,
		};
	}
	return true;
}

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void spaces_each(const struct spaces *spaces, uint32_t pid,
		 void (*on_mapping)(void *data, const struct mapping *mapping), void *data)
{
	const struct space *newest = space_newest(spaces, pid);
	size_t count = 0, capacity = 0;
	const struct entry *before = NULL;
	struct mapping mapping = { 0 };
	uint64_t *edges;

	for (const struct space *space = newest; space; space = space->base)
		capacity += 2 * space->count;
	edges = xcalloc(capacity + 1, sizeof(*edges));
	for (const struct space *space = newest; space; space = space->base) {
		for (uint32_t i = 0; i < space->count; i++) {
			edges[count++] = space->entries[i].start;
			edges[count++] = space->entries[i].end;
		}
	}
	qsort(edges, count, sizeof(*edges), by_address);
	/* Between two edges there is one mapping, or none. */
	for (size_t i = 0; i + 1 < count; i++) {
		const struct entry *entry;

		if (edges[i] == edges[i + 1])
			continue;
		entry = space_find(newest, UINT64_MAX, edges[i]);
		if (entry && entry == before) {
			mapping.end = edges[i + 1];
			continue;
		}
		if (before)
			on_mapping(data, &mapping);
		before = entry;
		if (!entry)
			continue;
		mapping = (struct mapping){
			edges[i],
			edges[i + 1],
			entry->file_offset + (edges[i] - entry->start),
			entry->module,
		};
	}
	if (before)
		on_mapping(data, &mapping);
	free(edges);
}

/* Recomputes reach from an index on. */
static void update_reach(struct space *space, size_t from)
{
	uint64_t reach = from ? space->entries[from - 1].reach : 0;

	for (size_t i = from; i < space->count; i++) {
		if (space->entries[i].end > reach)
			reach = space->entries[i].end;
		space->entries[i].reach = reach;
	}
}

/* Drops the entries that one later entry hides: only lookups of the past could see them. */
static void space_compact(struct spaces *spaces, struct space *space)
{
	size_t kept = 0;
	bool *is_hidden = xcalloc(space->count, sizeof(*is_hidden));

	for (size_t i = 0; i < space->count; i++) {
		const struct entry *e = &space->entries[i];
		const struct entry *winner = find_in(space, UINT64_MAX, e->start);

		is_hidden[i] = winner && winner != e && winner->end >= e->end;
	}
	for (size_t i = 0; i < space->count; i++)
		if (!is_hidden[i])
			space->entries[kept++] = space->entries[i];
	free(is_hidden);
	spaces->mapping_count -= space->count - kept;
	space->count = kept;
	update_reach(space, 0);
}

/* A walk over all entries costs as much as the refusals that follow a fruitless one. */
static bool make_space(struct spaces *spaces, struct space *space)
{
	if (space->retry_count) {
		space->retry_count--;
		return false;
	}
	space_compact(spaces, space);
	if (space->count <= ENTRIES_MAX / 16 * 15)
		return true;
	space->retry_count = ENTRIES_MAX / 16;
	return false;
}

static void space_add(struct spaces *spaces, struct space *space, const struct mapping *mapping, uint64_t from_ns)
{
	size_t at;

	if (space->count >= ENTRIES_MAX && !make_space(spaces, space)) {
		spaces->dropped++;
		return;
	}
	ARRAY_GROW(space->entries, space->count, space->capacity, 8);
	for (at = space->count; at && space->entries[at - 1].start > mapping->start; at--)
		;
	memmove(&space->entries[at + 1], &space->entries[at], (space->count - at) * sizeof(*space->entries));
	space->entries[at] = (struct entry){
		.start = mapping->start,
		.end = mapping->end,
		.file_offset = mapping->file_offset,
		.from_ns = from_ns,
		.module = mapping->module,
		.order = ++spaces->last_order,
	};
	space->count++;
	spaces->mapping_count++;
	update_reach(space, at);
}

static bool is_same(const struct entry *entry, const struct mapping *mapping)
{
	return entry->start == mapping->start && entry->end == mapping->end &&
	       entry->file_offset == mapping->file_offset && entry->module == mapping->module;
}

/* The space that a fact about time_ns belongs to, begun when there is none. */
static struct space *space_get(struct spaces *spaces, uint32_t pid, uint64_t time_ns)
{
	struct space *space = space_at(spaces, pid, time_ns);

	return space ? space : space_begin(spaces, pid, 0);
}

void spaces_map(struct spaces *spaces, uint32_t pid, uint64_t time_ns, const struct mapping *mapping)
{
	const struct entry *entry;
	struct space *space;

	if (mapping->end <= mapping->start || !has_space(spaces))
		return;
	space = space_get(spaces, pid, time_ns);
	if (!space)
		return;
	/* Programs that load one library again and again must not fill the table. */
	entry = space_find(space, time_ns, mapping->start);
	if (!entry || !is_same(entry, mapping))
		space_add(spaces, space, mapping, time_ns);
}

static bool is_free(const struct space *space, const struct mapping *mapping)
{
	for (; space; space = space->base) {
		size_t i = space_lower_bound(space, mapping->end);

		if (i && space->entries[i - 1].reach > mapping->start)
			return false;
	}
	return true;
}

void spaces_found(struct spaces *spaces, uint32_t pid, uint64_t now_ns, const struct mapping *mapping)
{
	const struct entry *entry;
	struct space *space;

	if (mapping->end <= mapping->start || !has_space(spaces))
		return;
	space = space_get(spaces, pid, UINT64_MAX);
	if (!space)
		return;
	if (now_ns < space->from_ns)
		now_ns = space->from_ns;
	entry = space_find(space, UINT64_MAX, mapping->start);
	if (entry && is_same(entry, mapping))
		return;
	space_add(spaces, space, mapping, is_free(space, mapping) ? space->from_ns : now_ns);
}

static int by_arrival(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Adds what a space held at a time, the older first so that the newer still hides it. */
static void copy_entries(struct spaces *spaces, struct space *space, const struct space *from, uint64_t time_ns)
{
	struct entry *entries = xcalloc(from->count, sizeof(*entries));

	if (from->count)
		memcpy(entries, from->entries, from->count * sizeof(*entries));
	qsort(entries, from->count, sizeof(*entries), by_arrival);
	for (size_t i = 0; i < from->count; i++) {
		const struct entry *e = &entries[i];
		struct mapping mapping = { e->start, e->end, e->file_offset, e->module };

		if (e->from_ns <= time_ns)
			space_add(spaces, space, &mapping, space->from_ns);
	}
	free(entries);
}

/* A chain of bases that is too long to walk becomes a copy. */
static void copy_chain(struct spaces *spaces, struct space *space, const struct space *base, uint64_t time_ns)
{
	const struct space *chain[BASES_MAX + 1];
	uint64_t times[BASES_MAX + 1];
	size_t count = 0;

	for (; base && count < BASES_MAX + 1; base = base->base) {
		chain[count] = base;
		times[count++] = time_ns;
		if (time_ns > base->base_ns)
			time_ns = base->base_ns;
	}
	while (count--)
		copy_entries(spaces, space, chain[count], times[count]);
}

void spaces_fork(struct spaces *spaces, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	struct space *space = space_begin(spaces, pid, time_ns);
	struct space *base;
	uint64_t base_ns = time_ns;

	if (!space) {
		spaces_forget(spaces, pid);
		return;
	}
	if (pid == parent_pid)
		return;
	base = space_at(spaces, parent_pid, time_ns);
	/* A space without mappings of its own adds nothing but length to the chain. */
	while (base && !base->count && base->base) {
		if (base_ns > base->base_ns)
			base_ns = base->base_ns;
		base = base->base;
	}
	if (!base || base == space)
		return;
	if (base->depth >= BASES_MAX) {
		copy_chain(spaces, space, base, base_ns);
		return;
	}
	space->base = base;
	space->base_ns = base_ns;
	space->depth = base->depth + 1;
	base->user_count++;
}

struct space_counts spaces_counts(const struct spaces *spaces)
{
	return (struct space_counts){
		.spaces = spaces->space_count,
		.mappings = spaces->mapping_count,
		.dropped = spaces->dropped,
	};
}
