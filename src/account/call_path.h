/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What slices, stalls and samples add up to by call path of an address space. The table
 * owns its paths; they and the threads they name stay until call_paths_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "account/measures/metrics.h"
#include "account/sample_set.h"
#include "stacks/stacks.h"

struct call_paths;
struct call_path;

/* Paths beyond paths_max share one row, of processes that have just begun beyond a quarter; 0: default. */
struct call_paths *call_paths_new(size_t paths_max);
void call_paths_free(struct call_paths *paths);

/* The path of a thread that was seen with this stack, made if need be. */
struct call_path *call_paths_get(struct call_paths *paths, const struct thread *thread, uint64_t stack,
				 uint64_t now_ns);

/*
 * A critical slice ended here, its stack kept with the probability keep / 2^32 (0: 1). True:
 * the path names the thread from now on, so it must be kept.
 */
bool call_path_add_slice(struct call_paths *paths, struct call_path *path, const struct thread *thread,
			 fixed_ns cmetric, uint32_t keep);

/* Returns how many samples found no space. */
uint64_t call_path_add_samples(struct call_paths *paths, struct call_path *path, const struct sample_set *samples);

/* A slice without samples: the top of the stack stands in. False when there is no stack. */
bool call_path_add_stack_top(struct call_path *path);

/* Why the slice ended that was just added. */
void call_path_add_cause(struct call_path *path, enum wait_cause cause, const struct wait_facts *facts,
			 fixed_ns cmetric, uint32_t keep);

void call_path_add_stall(struct call_path *path, uint64_t stalled_ns);

/* See criticality_next_path(). stacks may be NULL: the tops stay without address. */
const struct path_metrics *call_paths_next(struct call_paths *paths, const struct stacks *stacks, size_t *cursor);
