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

/* What all files of a user may take together: what is left of it. Lines are given back when a map is closed. */
struct perf_map_budget {
	uint64_t lines; /* kept */
	uint64_t read_bytes;
};

void perf_map_budget_init(struct perf_map_budget *budget);

/* More may be read as time goes by, for long runs meet many files. */
void perf_map_budget_refill(struct perf_map_budget *budget, uint64_t seconds);

/* Lines that are kept. */
uint64_t perf_map_budget_lines(const struct perf_map_budget *budget);

/* Whether one more file may have all lines that a file may. */
bool perf_map_budget_is_enough(const struct perf_map_budget *budget);

/* Takes the descriptor; borrows the budget. */
struct perf_map *perf_map_new(int fd, struct perf_map_budget *budget);
void perf_map_close(struct perf_map *map);

/* Reads what was added to the file since; a file that was written again, as a whole. */
void perf_map_refresh(struct perf_map *map);

/* The name of the code at an address, and where that begins. The last line that holds it wins. */
bool perf_map_find(struct perf_map *map, uint64_t address, char *name, size_t size_bytes, uint64_t *start);

/* Whether the file still belongs to who it belonged to at first; if not, it names nothing. */
bool perf_map_is_trusted(const struct perf_map *map);

/* Whether there is more in the file than may be read. */
bool perf_map_is_cut(const struct perf_map *map);

/* Lines beyond the bounds. */
uint64_t perf_map_dropped(const struct perf_map *map);
