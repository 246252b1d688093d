/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "account/call_path.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/threads.h"

enum {
	PATHS_MAX_DEFAULT = 65536,
	YOUNG_SHARE = 4, /* that part of the rows is for processes that are young */
	YOUNG_NS = 1000000000,
	SAMPLE_KINDS_MAX = 4096,          /* of one path */
	SAMPLE_KINDS_TOTAL_MAX = 1 << 21, /* of all paths: about 80 MB */
	PAIRS_MAX = 1 << 20,              /* of a path and a thread: about 32 MB */
	RECENT = 64,                      /* threads of a path, by number: spares most look-ups of pairs */
};

struct call_path {
	struct path_metrics metrics;
	uint64_t number;
	fixed_ns cmetric_certain; /* of slices whose stacks are always kept */
	double cmetric_weighted;  /* of the others, over their probability */
	uint64_t slices_certain;
	double slices_weighted;
	struct sample_set samples;
	uint64_t stack_tops;
	float cmetric_by_cause[SLICE_CAUSES];
	const struct thread *threads[PATH_THREADS_MAX];
	uint32_t *recent;       /* [RECENT] numbers of others it has met; NULL: none yet */
	struct call_path *next; /* of the same hash */
};

struct call_paths {
	struct arena *arena;
	struct table *by_hash;
	struct call_path **paths;
	size_t count, capacity, paths_max;
	struct call_path *others; /* NULL until it is needed */
	struct table *pairs;      /* threads that a path has met but does not name */
	size_t sample_kinds;
};

struct call_paths *call_paths_new(size_t paths_max)
{
	struct call_paths *paths = xcalloc(1, sizeof(*paths));

	paths->arena = arena_new();
	paths->by_hash = table_new();
	paths->pairs = table_new();
	paths->paths_max = paths_max ? paths_max : PATHS_MAX_DEFAULT;
	return paths;
}

void call_paths_free(struct call_paths *paths)
{
	if (!paths)
		return;
	for (size_t i = 0; i < paths->count; i++)
		sample_set_fini(&paths->paths[i]->samples);
	free(paths->paths);
	table_free(paths->by_hash);
	table_free(paths->pairs);
	arena_free(paths->arena);
	free(paths);
}

static struct call_path *add_path(struct call_paths *paths, uint64_t now_ns)
{
	struct call_path *path = arena_alloc(paths->arena, sizeof(*path));

	ARRAY_GROW(paths->paths, paths->count, paths->capacity, 64);
	path->number = paths->count;
	path->metrics.first_ns = now_ns;
	path->metrics.cause = SLICE_CAUSES;
	path->metrics.threads = path->threads;
	paths->paths[paths->count++] = path;
	return path;
}

/*
 * A process that has only begun. Most of those on a machine where they come and go all the time are
 * gone soon: all rows would be theirs, and those that last would find none.
 */
static bool is_young(const struct thread *thread, uint64_t now_ns)
{
	return thread->tid == thread->pid && !thread->was_found && now_ns < thread->born_ns + YOUNG_NS;
}

static size_t rows_max(const struct call_paths *paths, const struct thread *thread, uint64_t now_ns)
{
	return is_young(thread, now_ns) ? (paths->paths_max + YOUNG_SHARE - 1) / YOUNG_SHARE : paths->paths_max;
}

struct call_path *call_paths_get(struct call_paths *paths, const struct thread *thread, uint64_t stack, uint64_t now_ns)
{
	uint64_t space = (uint64_t)thread->exec_count << 32 | thread->pid;
	uint64_t hash = hash_u64(stack ^ hash_u64(space));
	struct call_path *first = table_find(paths->by_hash, hash), *path;

	for (path = first; path; path = path->next)
		if (path->metrics.stack == stack && path->metrics.pid == thread->pid &&
		    path->metrics.exec_count == thread->exec_count)
			return path;
	if (paths->count >= rows_max(paths, thread, now_ns)) {
		if (!paths->others)
			paths->others = add_path(paths, now_ns);
		return paths->others;
	}
	path = add_path(paths, now_ns);
	path->metrics.stack = stack;
	path->metrics.pid = thread->pid;
	path->metrics.exec_count = thread->exec_count;
	path->next = first;
	table_put(paths->by_hash, hash, path);
	return path;
}

/* True: the path names the thread. */
static bool add_thread(struct call_paths *paths, struct call_path *path, const struct thread *thread)
{
	size_t named = path->metrics.thread_count < PATH_THREADS_MAX ? path->metrics.thread_count : PATH_THREADS_MAX;
	uint64_t pair = path->number << 32 | thread->number;

	for (size_t i = 0; i < named; i++)
		if (path->threads[i] == thread)
			return true;
	if (named < PATH_THREADS_MAX) {
		path->threads[named] = thread;
		path->metrics.thread_count++;
		return true;
	}
	if (!path->recent)
		path->recent = arena_alloc(paths->arena, RECENT * sizeof(*path->recent));
	if (path->recent[thread->number % RECENT] == thread->number)
		return false;
	path->recent[thread->number % RECENT] = thread->number;
	if (table_count(paths->pairs) < PAIRS_MAX && !table_find(paths->pairs, pair)) {
		table_put(paths->pairs, pair, path);
		path->metrics.thread_count++;
	}
	return false;
}

bool call_path_add_slice(struct call_paths *paths, struct call_path *path, const struct thread *thread,
			 fixed_ns cmetric, uint32_t keep)
{
	path->metrics.slices++;
	if (keep) {
		path->cmetric_weighted += (double)cmetric / keep;
		path->slices_weighted += 0x1p32 / keep;
	} else {
		path->cmetric_certain += cmetric;
		path->slices_certain++;
	}
	return add_thread(paths, path, thread);
}

uint64_t call_path_add_samples(struct call_paths *paths, struct call_path *path, const struct sample_set *samples)
{
	size_t kinds_before = path->samples.kind_count, kinds_max = SAMPLE_KINDS_MAX;
	uint64_t dropped = 0;

	if (kinds_max > kinds_before + SAMPLE_KINDS_TOTAL_MAX - paths->sample_kinds)
		kinds_max = kinds_before + SAMPLE_KINDS_TOTAL_MAX - paths->sample_kinds;
	/* Addresses of several address spaces must not be mixed. */
	if (path == paths->others)
		kinds_max = 0;
	for (size_t i = 0; i < samples->kind_count; i++) {
		const struct sample_count *kind = &samples->kinds[i];

		if (!sample_set_add(&path->samples, kind->ip, kind->kernel_ip, kind->count, kinds_max))
			dropped += kind->count;
	}
	paths->sample_kinds += path->samples.kind_count - kinds_before;
	return dropped;
}

bool call_path_add_stack_top(struct call_path *path)
{
	if (!path->metrics.stack)
		return false;
	path->stack_tops++;
	return true;
}

void call_path_add_cause(struct call_path *path, enum wait_cause cause, const struct wait_facts *facts,
			 fixed_ns cmetric, uint32_t keep)
{
	float *sum = &path->cmetric_by_cause[cause];

	*sum += cmetric * 0x1p-32 * (keep ? 0x1p32 / keep : 1) + 1e-3;
	if (path->metrics.cause == SLICE_CAUSES || path->metrics.cause == cause ||
	    *sum > path->cmetric_by_cause[path->metrics.cause]) {
		path->metrics.cause = cause;
		path->metrics.facts = *facts;
	}
}

void call_path_add_stall(struct call_path *path, uint64_t stalled_ns)
{
	path->metrics.stalled_ns += stalled_ns;
}

/* The stack top goes behind the samples, in the place that the set leaves for it. */
static void show_samples(struct call_path *path, const struct stacks *stacks)
{
	const struct ev_stack_frames *frames = NULL;

	path->metrics.sample_kind_count = path->samples.kind_count;
	if (path->stack_tops) {
		if (!path->samples.kinds) {
			/* Adding and clearing makes the space. */
			sample_set_add(&path->samples, 0, 0, 0, 1);
			sample_set_clear(&path->samples);
		}
		if (stacks)
			frames = stacks_find(stacks, path->metrics.stack);
		path->samples.kinds[path->metrics.sample_kind_count++] = (struct sample_count){
			.ip = frames && frames->user_count ? frames->frames[frames->kernel_count] : 0,
			.count = path->stack_tops,
			.is_stack_top = true,
		};
	}
	path->metrics.samples = path->samples.kinds;
}

const struct path_metrics *call_paths_next(struct call_paths *paths, const struct stacks *stacks, size_t *cursor)
{
	struct call_path *path;

	if (*cursor >= paths->count)
		return NULL;
	path = paths->paths[(*cursor)++];
	path->metrics.cmetric_ns = (double)path->cmetric_certain * 0x1p-32 + path->cmetric_weighted;
	path->metrics.slices_estimated = path->slices_certain + path->slices_weighted;
	show_samples(path, stacks);
	return &path->metrics;
}
