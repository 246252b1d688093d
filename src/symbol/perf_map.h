/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /tmp/perf-PID.map, or a jit-PID.dump that the process has mapped: names that a JIT compiler writes
 * for its code. Only places are kept in memory; a name is read from the file when it is asked for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct perf_map;

/*
 * Where a process's file is, or will be: in its file tree, under the number that it has there. Good
 * after its end, too, when some write it.
 */
struct perf_map_place {
	uint32_t pid;		/* 0: not known */
	uint32_t own_pid;
	uid_t uid;
	int root_fd;
};

/* For a living process; the place stays what it was when there is none. */
int perf_map_place_find(uint32_t pid, struct perf_map_place *place);
void perf_map_place_close(struct perf_map_place *place);

/*
 * -ENOENT: there is no file; -EPERM: neither the process's user nor root owns it, so it is not
 * trusted.
 */
int perf_map_open(const struct perf_map_place *place, struct perf_map **out);

/* The same for a descriptor, which it takes. */
struct perf_map *perf_map_new(int fd);
void perf_map_close(struct perf_map *map);

/* Reads what was added to the file since. */
void perf_map_refresh(struct perf_map *map);

/* The name of the code at an address, and where that begins. The last line that holds it wins. */
bool perf_map_find(const struct perf_map *map, uint64_t address, char *name, size_t size_bytes,
		   uint64_t *start);

/* Lines beyond the bound. */
uint64_t perf_map_dropped(const struct perf_map *map);
