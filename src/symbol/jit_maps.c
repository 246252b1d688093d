/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/jit_maps.h"

#include <errno.h>
#include <time.h>

#include "base/memory.h"
#include "base/table.h"
#include "symbol/perf_map.h"

enum {
	SPACES_MAX = 1024,
	MAPS_MAX = 256,			/* each takes a descriptor */
	LOOKED_NEVER = -1,
};

struct jit_space {
	struct perf_map *map;		/* NULL: it had none when it was last looked for */
	time_t looked;
};

struct jit_maps {
	int (*give)(void *data, uint32_t space);
	void *data;
	struct table *spaces;
	struct perf_map_budget budget;
	size_t map_count;
};

struct jit_maps *jit_maps_new(int (*give)(void *data, uint32_t space), void *data)
{
	struct jit_maps *maps = xcalloc(1, sizeof(*maps));

	maps->give = give;
	maps->data = data;
	maps->spaces = table_new();
	perf_map_budget_init(&maps->budget);
	return maps;
}

static struct jit_space *space_get(struct jit_maps *maps, uint32_t number)
{
	struct jit_space *space = table_find(maps->spaces, (uint64_t)number + 1);

	if (!space && table_count(maps->spaces) < SPACES_MAX) {
		space = xcalloc(1, sizeof(*space));
		space->looked = LOOKED_NEVER;
		table_put(maps->spaces, (uint64_t)number + 1, space);
	}
	return space;
}

static int look(struct jit_maps *maps, struct jit_space *space, uint32_t number)
{
	int fd;

	if (space->map) {
		perf_map_refresh(space->map);
		return perf_map_is_trusted(space->map) ? 0 : -EPERM;
	}
	if (maps->map_count >= MAPS_MAX)
		return -ENOSPC;
	fd = maps->give(maps->data, number);
	if (fd < 0)
		return fd;
	space->map = perf_map_new(fd, &maps->budget);
	maps->map_count++;
	return 0;
}

static time_t seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

int jit_maps_read(struct jit_maps *maps, uint32_t number)
{
	struct jit_space *space = space_get(maps, number);

	int err = space ? look(maps, space, number) : -ENOSPC;

	return !err && perf_map_is_cut(space->map) ? -E2BIG : err;
}

int jit_maps_find(struct jit_maps *maps, uint32_t number, uint64_t address, char *name, size_t room_bytes,
		  uint64_t *start)
{
	struct jit_space *space = space_get(maps, number);
	int err;

	if (!space)
		return -ENOSPC;
	if (space->map && !perf_map_is_trusted(space->map))
		return -EPERM;
	if (space->map && perf_map_find(space->map, address, name, room_bytes, start))
		return 0;
	if (seconds_now() == space->looked)
		return -ENOENT;
	space->looked = seconds_now();
	err = look(maps, space, number);
	if (err)
		return err;
	if (perf_map_find(space->map, address, name, room_bytes, start))
		return 0;
	return perf_map_is_cut(space->map) ? -E2BIG : -ENOENT;
}
