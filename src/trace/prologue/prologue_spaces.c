/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each process has its mappings as events, in the order in which they came, so that later ones are recorded
 * behind those that they replace in part; and what it calls itself, which is gone with them.
 */
#include "trace/prologue/prologue_spaces.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/event_kinds.h"
#include "trace/prologue/prologue_out.h"

/* As symbol/mapped_files.c and symbol/space/space.c have them. */
enum {
	MAPPINGS_MAX = 200000,
	PER_PROCESS_MAX = 16384,
	BYTES_MAX = 128 << 20, /* of all of them, with their paths */
	ENDED_MAX = 64,        /* processes whose last thread may still have to leave its CPU */
};

struct space {
	uint32_t pid;
	bool is_ended, has_program;
	struct ev_user_program program;
	size_t count, capacity;
	struct ev_space_found **mappings;
};

struct prologue_spaces {
	struct table *by_pid; /* + 1 since pid 0 is a key too */
	size_t mapping_count, bytes;
	uint32_t ended[ENDED_MAX]; /* the last ones, by turns */
	size_t ended_count;        /* of all so far */
};

struct prologue_spaces *prologue_spaces_new(void)
{
	struct prologue_spaces *spaces = xcalloc(1, sizeof(*spaces));

	spaces->by_pid = table_new();
	return spaces;
}

static void remove_one(struct prologue_spaces *spaces, struct ev_space_found *mapping)
{
	spaces->mapping_count--;
	spaces->bytes -= event_bytes(&mapping->header);
	free(mapping);
}

static void clear(struct prologue_spaces *spaces, struct space *space)
{
	while (space->count)
		remove_one(spaces, space->mappings[--space->count]);
}

static void forget(struct prologue_spaces *spaces, struct space *space)
{
	clear(spaces, space);
	free(space->mappings);
	free(space);
}

void prologue_spaces_free(struct prologue_spaces *spaces)
{
	struct space *space;
	size_t cursor = 0;

	if (!spaces)
		return;
	while ((space = table_next(spaces->by_pid, &cursor)))
		forget(spaces, space);
	table_free(spaces->by_pid);
	free(spaces);
}

static struct space *find(const struct prologue_spaces *spaces, uint32_t pid)
{
	return table_find(spaces->by_pid, (uint64_t)pid + 1);
}

static struct space *get(struct prologue_spaces *spaces, uint32_t pid)
{
	struct space *space = find(spaces, pid);

	if (!space && table_count(spaces->by_pid) < MAPPINGS_MAX) {
		space = xcalloc(1, sizeof(*space));
		space->pid = pid;
		table_put(spaces->by_pid, (uint64_t)pid + 1, space);
	}
	return space;
}

static void add(struct prologue_spaces *spaces, struct space *space, const struct ev_space_found *e)
{
	size_t size_bytes = event_bytes(&e->header);
	struct ev_space_found *copy;

	if (spaces->mapping_count >= MAPPINGS_MAX || space->count >= PER_PROCESS_MAX ||
	    spaces->bytes + size_bytes > BYTES_MAX)
		return;
	ARRAY_GROW(space->mappings, space->count, space->capacity, 16);
	copy = memcpy(xcalloc(1, size_bytes), e, size_bytes);
	copy->header.subsys = TRACE_SUBSYS_SPACE;
	copy->header.event = TRACE_EVENT_SPACE_FOUND;
	copy->pid = space->pid;
	space->mappings[space->count++] = copy;
	spaces->mapping_count++;
	spaces->bytes += size_bytes;
}

/* Those that it hides, whole. */
static void remove_hidden(struct prologue_spaces *spaces, struct space *space, uint64_t start, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < space->count; i++) {
		struct ev_space_found *old = space->mappings[i];

		if (old->start >= start && old->size <= size && old->start - start <= size - old->size)
			remove_one(spaces, old);
		else
			space->mappings[kept++] = old;
	}
	space->count = kept;
}

static bool is_same(const struct ev_space_found *a, const struct ev_space_found *b)
{
	return a->start == b->start && a->size == b->size && a->file_offset == b->file_offset && a->inode == b->inode &&
	       a->major == b->major && a->minor == b->minor && !strcmp(a->path, b->path);
}

/* Whether it is what is mapped at its beginning: that leaves what covers other parts of it. */
static bool is_known(const struct space *space, const struct ev_space_found *e)
{
	for (size_t i = space->count; i; i--) {
		const struct ev_space_found *old = space->mappings[i - 1];

		if (e->start >= old->start && e->start - old->start < old->size)
			return is_same(old, e);
	}
	return false;
}

static void on_map(struct prologue_spaces *spaces, const struct ev_space_found *e)
{
	struct space *space = get(spaces, e->pid);

	if (!space || is_known(space, e))
		return;
	remove_hidden(spaces, space, e->start, e->size);
	add(spaces, space, e);
}

/* What another program, or another process with this id, had is not the new one's. */
static void begin_anew(struct prologue_spaces *spaces, struct space *space)
{
	clear(spaces, space);
	space->is_ended = space->has_program = false;
}

static void on_fork(struct prologue_spaces *spaces, const struct ev_space_fork *e)
{
	struct space *space = get(spaces, e->pid), *parent = find(spaces, e->parent_pid);

	if (!space)
		return;
	begin_anew(spaces, space);
	for (size_t i = 0; parent && parent != space && i < parent->count; i++)
		add(spaces, space, parent->mappings[i]);
}

static void on_exec(struct prologue_spaces *spaces, uint32_t pid)
{
	struct space *space = find(spaces, pid);

	if (space)
		begin_anew(spaces, space);
}

/* Its last switch, with a stack, comes a moment later. */
static void on_end(struct prologue_spaces *spaces, uint32_t pid)
{
	struct space *space = find(spaces, pid), *old;
	uint32_t *place = &spaces->ended[spaces->ended_count % ENDED_MAX];

	if (!space || space->is_ended)
		return;
	space->is_ended = true;
	old = spaces->ended_count++ >= ENDED_MAX ? find(spaces, *place) : NULL;
	if (old && old != space && old->is_ended)
		forget(spaces, table_take(spaces->by_pid, (uint64_t)*place + 1));
	*place = pid;
}

static void on_program(struct prologue_spaces *spaces, const struct ev_user_program *e)
{
	struct space *space = get(spaces, e->pid);

	if (!space)
		return;
	space->program = *e;
	space->has_program = true;
}

void prologue_spaces_follow(struct prologue_spaces *spaces, const struct ev_header *header)
{
	_Static_assert(offsetof(struct ev_space_map, path) == offsetof(struct ev_space_found, path), "the same fields");

	switch ((unsigned int)header->subsys << 16 | header->event) {
	case EV_SPACE_MAP:
	case EV_SPACE_FOUND:
		on_map(spaces, (const void *)header);
		break;
	case EV_SPACE_FORK:
		on_fork(spaces, (const void *)header);
		break;
	case EV_SPACE_EXEC:
		on_exec(spaces, ((const struct ev_space_exec *)header)->pid);
		break;
	case EV_SPACE_EXIT:
		on_end(spaces, ((const struct ev_space_exit *)header)->pid);
		break;
	case EV_USER_PROGRAM:
		on_program(spaces, (const void *)header);
		break;
	}
}

static void emit(struct space *space, uint64_t time_ns, const struct prologue_out *out)
{
	for (size_t i = 0; i < space->count; i++) {
		space->mappings[i]->header.time_ns = time_ns;
		out->emit(out->data, &space->mappings[i]->header);
	}
	if (space->has_program) {
		space->program.header.time_ns = time_ns;
		out->emit(out->data, &space->program.header);
	}
}

void prologue_spaces_emit(struct prologue_spaces *spaces, uint32_t pid, uint64_t time_ns,
			  const struct prologue_out *out)
{
	struct space *space = find(spaces, pid);

	if (space)
		emit(space, time_ns, out);
}

static int by_pid(const void *a, const void *b)
{
	uint32_t x = (*(struct space *const *)a)->pid, y = (*(struct space *const *)b)->pid;

	return (x > y) - (x < y);
}

void prologue_spaces_begin(struct prologue_spaces *spaces, uint64_t time_ns, const struct prologue_out *out)
{
	size_t count = 0, cursor = 0;
	struct space **all = xcalloc(table_count(spaces->by_pid) + 1, sizeof(*all)), *space;

	while ((space = table_next(spaces->by_pid, &cursor)))
		all[count++] = space;
	qsort(all, count, sizeof(*all), by_pid);
	for (size_t i = 0; i < count; i++)
		emit(all[i], time_ns, out);
	free(all);
}
