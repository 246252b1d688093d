/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each user has a share of what files may take, so that none takes it from others. Who needs more than their share
 * releases what they used least recently; it is read again when it is asked for. The shares of all users but root
 * are bounded together: then whoever has most gives some up.
 */
#include "symbol/jit/jit_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/table.h"
#include "helper/close_file.h"
#include "symbol/jit/perf_map.h"

enum {
	SPACES_MAX = 65536,
	SHARES_MAX = 4096, /* users; others share one */
	MAPS_MAX = 256,    /* of a user; each takes a descriptor */
	ALL_MAPS_MAX = 4096,
	ALL_LINES_MAX = 3 << 20, /* 120 MB */
	MAP_LINES = 1024,        /* as many lines a map is like, when users are compared */
	LOOKED_NEVER = -1,
};

#define OTHER_USERS (~(uint32_t)0)

/* Of all files of a user. */
struct share {
	struct perf_map_budget budget;
	size_t map_count;
	time_t refilled;
	bool is_roots;
};

struct jit_space {
	struct perf_map *map; /* NULL: it had none when it was last looked for, or released it */
	struct share *share;  /* of the map */
	uint32_t number;
	uint64_t used;
	time_t looked;
};

struct jit_maps {
	int (*give)(void *data, uint32_t space);
	void *data;
	struct table *spaces; /* by number + 1; owns them */
	struct table *shares; /* by user + 1; owns them */
	uint64_t use_count;
};

struct jit_maps *jit_maps_new(int (*give)(void *data, uint32_t space), void *data)
{
	struct jit_maps *maps = xcalloc(1, sizeof(*maps));

	maps->give = give;
	maps->data = data;
	maps->spaces = table_new();
	maps->shares = table_new();
	return maps;
}

/* --- Shares ---------------------------------------------------------------------------------- */

static struct share *share_get(struct jit_maps *maps, uint32_t user)
{
	struct share *share = table_find(maps->shares, (uint64_t)user + 1);

	if (share)
		return share;
	if (user && user != OTHER_USERS && table_count(maps->shares) >= SHARES_MAX)
		return share_get(maps, OTHER_USERS);
	share = xcalloc(1, sizeof(*share));
	perf_map_budget_init(&share->budget);
	share->refilled = clock_seconds();
	share->is_roots = !user;
	table_put(maps->shares, (uint64_t)user + 1, share);
	return share;
}

static void refill(struct share *share)
{
	time_t now = clock_seconds();

	perf_map_budget_refill(&share->budget, now - share->refilled);
	share->refilled = now;
}

static void let_go(struct jit_space *space)
{
	if (!space->map)
		return;
	perf_map_close(space->map);
	space->map = NULL;
	space->share->map_count--;
}

/* False: it has no other one than this. */
static bool let_go_of_oldest(struct jit_maps *maps, const struct share *share, const struct jit_space *but)
{
	struct jit_space *space, *oldest = NULL;
	size_t cursor = 0;

	while ((space = table_next(maps->spaces, &cursor)))
		if (space->map && space->share == share && space != but && (!oldest || space->used < oldest->used))
			oldest = space;
	if (oldest)
		let_go(oldest);
	return oldest;
}

static uint64_t size_of(const struct share *share)
{
	return perf_map_budget_lines(&share->budget) + share->map_count * MAP_LINES;
}

/* The largest one if all take too much; NULL: they do not. */
static struct share *find_largest(struct jit_maps *maps)
{
	struct share *share, *largest = NULL;
	uint64_t lines = 0, map_count = 0;
	size_t cursor = 0;

	while ((share = table_next(maps->shares, &cursor))) {
		if (share->is_roots)
			continue;
		lines += perf_map_budget_lines(&share->budget);
		map_count += share->map_count;
		if (!largest || size_of(share) > size_of(largest))
			largest = share;
	}
	return map_count >= ALL_MAPS_MAX || lines > ALL_LINES_MAX ? largest : NULL;
}

static void make_space(struct jit_maps *maps, const struct share *share, const struct jit_space *space)
{
	struct share *largest;

	while ((share->map_count >= MAPS_MAX || !perf_map_budget_is_enough(&share->budget)) &&
	       let_go_of_oldest(maps, share, space))
		;
	while ((largest = find_largest(maps)) && let_go_of_oldest(maps, largest, space))
		;
}

/* --- Spaces ---------------------------------------------------------------------------------- */

void jit_maps_forget(struct jit_maps *maps, uint32_t number)
{
	struct jit_space *space = table_take(maps->spaces, (uint64_t)number + 1);

	if (!space)
		return;
	let_go(space);
	free(space);
}

/* What is forgotten is when it was looked for. */
static void forget_empty(struct jit_maps *maps)
{
	struct jit_space *space;
	size_t cursor = 0;

	while ((space = table_next(maps->spaces, &cursor)))
		if (!space->map)
			jit_maps_forget(maps, space->number);
}

static struct jit_space *space_get(struct jit_maps *maps, uint32_t number)
{
	struct jit_space *space = table_find(maps->spaces, (uint64_t)number + 1);

	if (!space) {
		if (table_count(maps->spaces) >= SPACES_MAX)
			forget_empty(maps);
		space = xcalloc(1, sizeof(*space));
		space->number = number;
		space->looked = LOOKED_NEVER;
		table_put(maps->spaces, (uint64_t)number + 1, space);
	}
	space->used = ++maps->use_count;
	return space;
}

static int open_map(struct jit_maps *maps, struct jit_space *space)
{
	int fd = maps->give(maps->data, space->number);
	struct stat status;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status)) {
		file_close(fd);
		return -EPERM;
	}
	space->share = share_get(maps, status.st_uid);
	refill(space->share);
	make_space(maps, space->share, space);
	space->map = perf_map_new(fd, &space->share->budget);
	space->share->map_count++;
	return 0;
}

static int look(struct jit_maps *maps, struct jit_space *space)
{
	if (!space->map)
		return open_map(maps, space);
	refill(space->share);
	perf_map_refresh(space->map);
	return perf_map_is_trusted(space->map) ? 0 : -EPERM;
}

int jit_maps_read(struct jit_maps *maps, uint32_t number)
{
	struct jit_space *space = space_get(maps, number);
	int err = look(maps, space);

	return !err && perf_map_is_cut(space->map) ? -E2BIG : err;
}

int jit_maps_find(struct jit_maps *maps, uint32_t number, uint64_t address, char *name, size_t capacity_bytes,
		  uint64_t *start)
{
	struct jit_space *space = space_get(maps, number);
	int err;

	if (space->map && !perf_map_is_trusted(space->map))
		return -EPERM;
	if (space->map && perf_map_find(space->map, address, name, capacity_bytes, start))
		return 0;
	if (clock_seconds() == space->looked)
		return -ENOENT;
	space->looked = clock_seconds();
	err = look(maps, space);
	if (err)
		return err;
	if (perf_map_find(space->map, address, name, capacity_bytes, start))
		return 0;
	return perf_map_is_cut(space->map) ? -E2BIG : -ENOENT;
}
