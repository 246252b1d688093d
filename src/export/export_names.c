/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export_names.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "events.h"
#include "graph/graph_label.h"
#include "session/threads.h"

/* Of frames that have names. */
enum { FRAME_BYTES_MAX = 32 << 20, TIMES_MAX = 1 << 18 };

struct export_names {
	struct graph_labels *labels;
	struct threads *threads;
	struct table *execs;   /* how many, by process */
	struct table *times;   /* when a call path was first met */
	struct table *objects; /* names; "": there is none */
};

struct export_names *export_names_new(struct graph_labels *labels, struct threads *threads)
{
	struct export_names *names = xcalloc(1, sizeof(*names));

	*names = (struct export_names){ labels, threads, table_new(), table_new(), table_new() };
	return names;
}

void export_names_free(struct export_names *names)
{
	table_free(names->execs);
	table_free(names->times);
	table_free(names->objects);
	free(names);
}

void export_names_exec(struct export_names *names, uint32_t pid)
{
	table_put(names->execs, pid, (void *)((uintptr_t)table_find(names->execs, pid) + 1));
}

/* Of the thread's address space. */
static uint64_t space_key(const struct export_names *names, uint32_t thread)
{
	uint32_t pid = threads_get(names->threads, thread)->pid;

	return hash_u64((uint64_t)pid << 32 ^ (uintptr_t)table_find(names->execs, pid));
}

/* When what has this key was first met: at that time, if it is now. */
static uint64_t first_ns(struct export_names *names, uint64_t key, uint64_t time_ns)
{
	uint64_t known_ns = (uintptr_t)table_find(names->times, key);

	if (known_ns)
		return known_ns;
	if (time_ns)
		table_put(names->times, key, (void *)(uintptr_t)time_ns);
	return time_ns;
}

void export_names_trim(struct export_names *names)
{
	bool is_full = table_count(names->times) > TIMES_MAX;

	if (!graph_labels_drop_frames(names->labels, is_full ? 0 : FRAME_BYTES_MAX) && !is_full)
		return;
	table_free(names->times);
	names->times = table_new();
}

const char *export_names_object(struct export_names *names, const struct graph_wait *wait)
{
	uint64_t key = hash_u64(space_key(names, wait->thread) ^ wait->object);
	const char *object;

	key = hash_u64(key ^ ((uint64_t)wait->cause << 40 | (uint64_t)wait->state << 32 |
			      (uint32_t)wait->syscall << 16 | wait->operation));
	object = table_find(names->objects, key);
	if (!object) {
		object = graph_wait_object(names->labels, wait);
		table_put(names->objects, key, (void *)(object ? object : ""));
	}
	return object && *object ? object : NULL;
}

size_t export_names_wait(struct export_names *names, const struct graph_wait *wait, const struct report_frame **frames)
{
	struct graph_wait first = *wait;

	*frames = NULL;
	if (!wait->stack)
		return 0;
	first.time_ns = first_ns(names, hash_u64(space_key(names, wait->thread) ^ wait->stack), wait->time_ns);
	return graph_wait_frames(names->labels, &first, frames);
}

size_t export_names_sample(struct export_names *names, uint32_t thread, const struct ev_sched_sample *e,
			   const struct report_frame **frames)
{
	uint64_t key = hash_u64(space_key(names, thread) ^ e->stack);

	key = hash_u64(hash_u64(key ^ e->ip) ^ e->kernel_ip);
	return graph_sample_frames(names->labels, thread, first_ns(names, key, e->header.time_ns), e->stack, e->ip,
				   e->kernel_ip, frames);
}
