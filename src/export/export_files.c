/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/export_files.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"
#include "base/text.h"
#include "events.h"

enum { FILES_MAX = 1 << 16 };

struct known_file {
	struct export_file file;
	bool is_ambiguous; /* there is another one of this name */
};

struct export_files {
	struct arena *arena;
	struct table *by_name;
	const char *first;
};

struct export_files *export_files_new(void)
{
	struct export_files *files = xcalloc(1, sizeof(*files));

	*files = (struct export_files){ .arena = arena_new(), .by_name = table_new() };
	return files;
}

void export_files_free(struct export_files *files)
{
	if (!files)
		return;
	arena_free(files->arena);
	table_free(files->by_name);
	free(files);
}

static uint64_t key_of(const char *name)
{
	return hash_string(1, name);
}

static void put_build_id(struct text *out, const struct ev_space_map *map)
{
	text_put(out, "");
	for (uint32_t i = 0; i < map->build_id_size && i < sizeof(map->build_id); i++)
		text_printf(out, "%02x", map->build_id[i]);
}

/* A file is another one if its build-id is; of those without, if its path is. */
static bool is_same(const struct export_file *file, const char *path, const char *build_id)
{
	return !strcmp(file->build_id, build_id) && (*build_id || !strcmp(file->path, path));
}

static void add(struct export_files *files, const char *name, const char *path, const char *build_id)
{
	struct known_file *known = table_find(files->by_name, key_of(name));

	if (known) {
		known->is_ambiguous |= !is_same(&known->file, path, build_id);
		return;
	}
	if (table_count(files->by_name) == FILES_MAX)
		return;
	known = arena_alloc(files->arena, sizeof(*known));
	known->file.path = arena_strdup(files->arena, path);
	known->file.build_id = arena_strdup(files->arena, build_id);
	if (!files->first)
		files->first = arena_strdup(files->arena, name);
	table_put(files->by_name, key_of(name), known);
}

void export_files_take(struct export_files *files, const struct ev_header *event)
{
	/* space.FOUND has the fields of space.MAP. */
	const struct ev_space_map *map = (const struct ev_space_map *)event;
	struct text path = { 0 }, build_id = { 0 };
	const char *slash;

	if (event->subsys != TRACE_SUBSYS_SPACE ||
	    (event->event != TRACE_EVENT_SPACE_MAP && event->event != TRACE_EVENT_SPACE_FOUND))
		return;
	slash = strrchr(map->path, '/');
	if (!slash)
		return;
	text_put_escaped(&path, map->path);
	put_build_id(&build_id, map);
	add(files, slash + 1, path.bytes, build_id.bytes);
	text_fini(&path);
	text_fini(&build_id);
}

const char *export_files_first(const struct export_files *files)
{
	return files->first;
}

const struct export_file *export_files_find(const struct export_files *files, const char *name)
{
	const struct known_file *known = table_find(files->by_name, key_of(name));

	return known && !known->is_ambiguous ? &known->file : NULL;
}
