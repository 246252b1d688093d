/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/managed_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/threads.h"
#include "symbol/answer/symbol_names.h"
#include "symbol/java_methods.h"
#include "symbol/managed_codes.h"
#include "symbol/python/python_layout.h"
#include "symbol/ruby/ruby_layout.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "values.h"

enum { RUNTIMES_MAX = 65536 };

/* What Node.js brings along in JavaScript has such file names. */
static const char node_prefix[] = "node:";

struct managed_frames {
	struct spaces *spaces;
	struct modules *modules;
	struct session *session;
	struct threads *threads; /* NULL: stacks are not followed */
	struct managed_codes *codes;
	struct arena *arena;
	struct table *runtimes; /* by space: struct managed_runtimes */
};

struct runtime_search {
	const struct managed_frames *frames;
	struct managed_runtimes runtimes;
};

static void find_runtimes(void *data, const struct mapping *mapping)
{
	struct runtime_search *search = data;
	const struct module *module = modules_at(search->frames->modules, mapping->module);

	if (module && python_version_find(module->python_version))
		search->runtimes.python = python_version_find(module->python_version);
	if (module && ruby_version_find(module->ruby_version))
		search->runtimes.ruby = ruby_version_find(module->ruby_version);
	if (module && module->v8_heap.is_known)
		search->runtimes.v8 = &module->v8_heap;
}

static bool has_runtime(const struct managed_runtimes *runtimes, bool is_javascript)
{
	return is_javascript ? runtimes->v8 != NULL : runtimes->python || runtimes->ruby;
}

/* Of a process that has such frames. */
static struct managed_runtimes runtimes_of(struct managed_frames *frames, uint32_t pid, uint32_t space,
					   bool is_javascript)
{
	struct managed_runtimes *known = table_find(frames->runtimes, space);
	struct runtime_search search = { .frames = frames };

	if (known && has_runtime(known, is_javascript))
		return *known;
	spaces_each(frames->spaces, pid, find_runtimes, &search);
	if (!has_runtime(&search.runtimes, is_javascript) || table_count(frames->runtimes) >= RUNTIMES_MAX)
		return search.runtimes;
	known = arena_alloc(frames->arena, sizeof(*known));
	*known = search.runtimes;
	table_put(frames->runtimes, space, known);
	return *known;
}

/* What is read of a process is an event like others: whoever has no process gets it nevertheless. */
static void on_python(void *data, const struct ev_header *header)
{
	const struct ev_space_python_code *e = (const struct ev_space_python_code *)header;
	struct managed_frames *frames = data;
	struct space_hit hit;

	if (spaces_find(frames->spaces, e->pid, UINT64_MAX, 0, &hit))
		managed_codes_add_python(frames->codes, hit.space, e);
}

static void on_code(void *data, const struct ev_header *header)
{
	const struct ev_space_managed_code *e = (const struct ev_space_managed_code *)header;
	struct managed_frames *frames = data;
	struct space_hit hit;

	if (spaces_find(frames->spaces, e->pid, UINT64_MAX, 0, &hit))
		managed_codes_add(frames->codes, hit.space, e);
}

static void on_frames(void *data, const struct ev_header *header)
{
	const struct ev_stack_frames *e = (const struct ev_stack_frames *)header;
	struct managed_runtimes runtimes;
	struct managed_frames *frames = data;
	struct space_hit hit;
	uint32_t pid;

	pid = header->thread ? threads_get(frames->threads, header->thread)->pid : 0;
	if (!pid || !spaces_find(frames->spaces, pid, UINT64_MAX, 0, &hit))
		return;
	for (size_t i = 0; i < e->user_count; i++) {
		uint64_t frame = e->frames[e->kernel_count + i];

		if (!(frame & STACK_FRAME_MANAGED) || java_methods_is_interpreted(frame))
			continue;
		runtimes = runtimes_of(frames, pid, hit.space, managed_is_javascript(frame));
		managed_codes_look(frames->codes, pid, hit.space, header->time_ns, &runtimes, frame);
	}
}

static void on_sample(void *data, const struct ev_header *header)
{
	struct managed_frames *frames = data;

	if (header->thread)
		managed_codes_look_again(frames->codes, threads_get(frames->threads, header->thread)->pid,
					 header->time_ns);
}

struct managed_frames *managed_frames_new(struct session *session, struct spaces *spaces, struct modules *modules,
					  struct worker *worker, struct names *names, struct notes *notes)
{
	static const struct event_handler handlers[] = { { EV_SPACE_PYTHON_CODE, on_python },
							 { EV_SPACE_MANAGED_CODE, on_code },
							 { 0 } };
	struct managed_frames *frames = xcalloc(1, sizeof(*frames));

	frames->session = session;
	session_subscribe(session, handlers, frames);
	frames->spaces = spaces;
	frames->modules = modules;
	frames->codes = managed_codes_new(session, worker, names, notes);
	frames->arena = arena_new();
	frames->runtimes = table_new();
	return frames;
}

void managed_frames_free(struct managed_frames *frames)
{
	if (!frames)
		return;
	managed_codes_free(frames->codes);
	table_free(frames->runtimes);
	arena_free(frames->arena);
	free(frames);
}

void managed_frames_follow(struct managed_frames *frames, struct threads *threads)
{
	static const struct event_handler handlers[] = { { EV_STACK_FRAMES, on_frames },
							 { EV_SCHED_SAMPLE, on_sample },
							 { 0 } };

	frames->threads = threads;
	session_subscribe(frames->session, handlers, frames);
}

bool managed_frames_has(const struct managed_frames *frames, uint32_t space)
{
	return managed_codes_has(frames->codes, space);
}

/* In this space or, when the process did not live long enough, the one it was copied from. */
static bool find(const struct managed_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
		 struct managed_place *place, uint32_t *space)
{
	struct space_hit hit;

	spaces_find(frames->spaces, pid, time_ns, 0, &hit);
	*space = hit.space;
	return managed_codes_find(frames->codes, hit.space, time_ns, managed, place) ||
	       (hit.base && managed_codes_find(frames->codes, hit.base, time_ns, managed, place));
}

void managed_frames_resolve(const struct managed_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
			    struct symbol_frame *frame)
{
	struct managed_place place;
	uint32_t space;

	*frame = (struct symbol_frame){ .module = managed_is_javascript(managed) ? "[javascript]" : "[python]" };
	if (find(frames, pid, time_ns, managed, &place, &space)) {
		frame->function = place.function;
		frame->file = place.file;
		frame->line = place.line;
		if (place.language == MANAGED_RUBY)
			frame->module = "[ruby]";
		else if (place.language == MANAGED_JAVASCRIPT && place.file &&
			 !strncmp(place.file, node_prefix, sizeof(node_prefix) - 1))
			frame->module = "[node]";
	} else {
		frame->offset = (managed & STACK_MANAGED_CODE) >> STACK_MANAGED_SHIFT;
	}
}

bool managed_frames_place(const struct managed_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
			  bool whole_function, uint64_t *place, uint32_t *space)
{
	struct managed_place found;

	if (!find(frames, pid, time_ns, managed, &found, space))
		return false;
	*place = whole_function ? found.hash : hash_u64(found.hash ^ hash_u64(found.line));
	return true;
}
