/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/python_frames.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"
#include "session/threads.h"
#include "symbol/answer/symbol_names.h"
#include "symbol/python/python_layout.h"
#include "symbol/python_codes.h"
#include "symbol/ruby/ruby_layout.h"
#include "symbol/space/module.h"
#include "symbol/space/space.h"
#include "values.h"

enum { VERSIONS_MAX = 65536, LANGUAGE_SHIFT = 16 };

struct python_frames {
	struct spaces *spaces;
	struct modules *modules;
	struct session *session;
	struct threads *threads; /* NULL: stacks are not followed */
	struct python_codes *codes;
	struct table *versions; /* by space: the number of its version, and the language above */
};

struct version_search {
	const struct python_frames *frames;
	struct managed_version version;
};

static void find_version(void *data, const struct mapping *mapping)
{
	struct version_search *search = data;
	const struct module *module = modules_at(search->frames->modules, mapping->module);

	if (module && python_version_find(module->python_version))
		search->version = (struct managed_version){ MANAGED_PYTHON, module->python_version };
	else if (module && ruby_version_find(module->ruby_version) && !search->version.number)
		search->version = (struct managed_version){ MANAGED_RUBY, module->ruby_version };
}

/* Of the interpreter that a process has mapped; its number is 0: none that is known. */
static struct managed_version version_of(struct python_frames *frames, uint32_t pid, uint32_t space)
{
	struct version_search search = { .frames = frames };
	uintptr_t known = (uintptr_t)table_find(frames->versions, space);

	if (known)
		return (struct managed_version){ known >> LANGUAGE_SHIFT, known & ((1 << LANGUAGE_SHIFT) - 1) };
	spaces_each(frames->spaces, pid, find_version, &search);
	known = (uintptr_t)search.version.language << LANGUAGE_SHIFT | search.version.number;
	if (search.version.number && table_count(frames->versions) < VERSIONS_MAX)
		table_put(frames->versions, space, (void *)known);
	return search.version;
}

/* What is read of a process is an event like others: whoever has no process gets it nevertheless. */
static void on_code(void *data, const struct ev_header *header)
{
	const struct ev_space_python_code *e = (const struct ev_space_python_code *)header;
	struct python_frames *frames = data;
	struct space_hit hit;

	if (spaces_find(frames->spaces, e->pid, UINT64_MAX, 0, &hit))
		python_codes_add(frames->codes, hit.space, e);
}

static void on_managed_code(void *data, const struct ev_header *header)
{
	const struct ev_space_managed_code *e = (const struct ev_space_managed_code *)header;
	struct python_frames *frames = data;
	struct space_hit hit;

	if (spaces_find(frames->spaces, e->pid, UINT64_MAX, 0, &hit))
		python_codes_add_managed(frames->codes, hit.space, e);
}

static void on_frames(void *data, const struct ev_header *header)
{
	const struct ev_stack_frames *e = (const struct ev_stack_frames *)header;
	struct python_frames *frames = data;
	struct managed_version version;
	struct space_hit hit;
	uint32_t pid;

	pid = header->thread ? threads_get(frames->threads, header->thread)->pid : 0;
	if (!pid || !spaces_find(frames->spaces, pid, UINT64_MAX, 0, &hit))
		return;
	version = version_of(frames, pid, hit.space);
	if (!version.number)
		return;
	for (size_t i = 0; i < e->user_count; i++) {
		uint64_t frame = e->frames[e->kernel_count + i];

		if (frame & STACK_FRAME_MANAGED)
			python_codes_look(frames->codes, pid, hit.space, header->time_ns, version, frame);
	}
}

struct python_frames *python_frames_new(struct session *session, struct spaces *spaces, struct modules *modules,
					struct worker *worker, struct names *names, struct notes *notes)
{
	static const struct event_handler handlers[] = {
		{ EV_SPACE_PYTHON_CODE, on_code },
		{ EV_SPACE_MANAGED_CODE, on_managed_code },
		{ 0 },
	};
	struct python_frames *frames = xcalloc(1, sizeof(*frames));

	frames->session = session;
	session_subscribe(session, handlers, frames);
	frames->spaces = spaces;
	frames->modules = modules;
	frames->codes = python_codes_new(session, worker, names, notes);
	frames->versions = table_new();
	return frames;
}

void python_frames_free(struct python_frames *frames)
{
	if (!frames)
		return;
	python_codes_free(frames->codes);
	table_free(frames->versions);
	free(frames);
}

void python_frames_follow(struct python_frames *frames, struct threads *threads)
{
	static const struct event_handler handlers[] = { { EV_STACK_FRAMES, on_frames }, { 0 } };

	frames->threads = threads;
	session_subscribe(frames->session, handlers, frames);
}

/* In this space or, when the process did not live long enough, the one it was copied from. */
static bool find(const struct python_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
		 struct python_place *place, uint32_t *space)
{
	struct space_hit hit;

	spaces_find(frames->spaces, pid, time_ns, 0, &hit);
	*space = hit.space;
	return python_codes_find(frames->codes, hit.space, time_ns, managed, place) ||
	       (hit.base && python_codes_find(frames->codes, hit.base, time_ns, managed, place));
}

void python_frames_resolve(const struct python_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
			   struct symbol_frame *frame)
{
	struct python_place place;
	uint32_t space;

	*frame = (struct symbol_frame){ .module = "[python]" };
	if (find(frames, pid, time_ns, managed, &place, &space)) {
		if (place.language == MANAGED_RUBY)
			frame->module = "[ruby]";
		frame->function = place.function;
		frame->file = place.file;
		frame->line = place.line;
	} else {
		frame->offset = (managed & STACK_MANAGED_CODE) >> STACK_MANAGED_SHIFT;
	}
}

bool python_frames_place(const struct python_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
			 bool whole_function, uint64_t *place, uint32_t *space)
{
	struct python_place found;

	if (!find(frames, pid, time_ns, managed, &found, space))
		return false;
	*place = whole_function ? found.hash : hash_u64(found.hash ^ hash_u64(found.line));
	return true;
}
