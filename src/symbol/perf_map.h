/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /tmp/perf-PID.map, or a jit-PID.dump that the process has mapped: names that a JIT compiler writes
 * for its code. Only places are kept in memory; a name is read from the file when it is asked for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_map;

/*
 * Opens the file of a living process, in its file tree and under its own number. -ENOENT: it
 * has none; -EPERM: neither the process's user nor root owns it, so it is not trusted.
 */
int perf_map_open(uint32_t pid, struct perf_map **out);

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
