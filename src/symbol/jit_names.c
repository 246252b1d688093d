/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/jit_names.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/perf_map.h"

enum {
	SPACES_MAX = 65536,
	MAPS_MAX = 256,		/* each takes a descriptor and up to 10 MB */
	PLACES_MAX = 1024,	/* each takes a descriptor */
	LOOKED_NEVER = -1,
};

struct jit_space {
	struct perf_map *map;	/* NULL: it had none when it was last looked for */
	struct perf_map_place place;	/* as long as there is no map */
	time_t looked;		/* to find a name */
};

struct jit_names {
	struct table *spaces;
	size_t map_count, place_count;
};

struct jit_names *jit_names_new(void)
{
	struct jit_names *names = xcalloc(1, sizeof(*names));

	names->spaces = table_new();
	return names;
}

void jit_names_free(struct jit_names *names)
{
	struct jit_space *space;
	size_t cursor = 0;

	if (!names)
		return;
	while ((space = table_next(names->spaces, &cursor))) {
		perf_map_place_close(&space->place);
		perf_map_close(space->map);
		free(space);
	}
	table_free(names->spaces);
	free(names);
}

static void place_close(struct jit_names *names, struct jit_space *space)
{
	names->place_count -= space->place.pid != 0;
	perf_map_place_close(&space->place);
}

void jit_names_forget(struct jit_names *names, uint32_t number)
{
	struct jit_space *space = table_take(names->spaces, number);

	if (!space)
		return;
	names->map_count -= space->map != NULL;
	place_close(names, space);
	perf_map_close(space->map);
	free(space);
}

static time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

static int look(struct jit_names *names, struct jit_space *space, uint32_t pid)
{
	bool had_place = space->place.pid;
	int err;

	if (space->map) {
		perf_map_refresh(space->map);
		return 0;
	}
	if (names->map_count >= MAPS_MAX)
		return -ENOSPC;
	perf_map_place_find(pid, &space->place);
	names->place_count += space->place.pid && !had_place;
	err = perf_map_open(&space->place, &space->map);
	names->map_count += !err;
	if (!err || names->place_count > PLACES_MAX)
		place_close(names, space);
	return err;
}

static struct jit_space *space_get(struct jit_names *names, uint32_t number)
{
	struct jit_space *space = table_find(names->spaces, number);

	if (!space && number && table_count(names->spaces) < SPACES_MAX) {
		space = xcalloc(1, sizeof(*space));
		space->looked = LOOKED_NEVER;
		table_put(names->spaces, number, space);
	}
	return space;
}

int jit_names_keep(struct jit_names *names, uint32_t number, uint32_t pid)
{
	struct jit_space *space = space_get(names, number);

	return space ? look(names, space, pid) : -ENOSPC;
}

bool jit_names_has(const struct jit_names *names, uint32_t number)
{
	const struct jit_space *space = table_find(names->spaces, number);

	return space && space->map;
}

bool jit_names_find(struct jit_names *names, uint32_t number, uint32_t pid, uint64_t address,
		    char *name, size_t size_bytes, uint64_t *start)
{
	struct jit_space *space = pid ? space_get(names, number)
				      : table_find(names->spaces, number);

	if (!space)
		return false;
	if (space->map && perf_map_find(space->map, address, name, size_bytes, start))
		return true;
	/* To look for a file takes long, to look whether one has grown does not. */
	if (!pid || (!space->map && seconds_now() == space->looked))
		return false;
	space->looked = seconds_now();
	look(names, space, pid);
	return space->map && perf_map_find(space->map, address, name, size_bytes, start);
}
