/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs for the tests of the terminal UI: put together by hand, with names of threads, and without a trace. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/rows/graphs.h"

struct graph_fixture;

struct graph_fixture *graph_fixture_new(void);
void graph_fixture_free(struct graph_fixture *fixture);

/* Its thread id is 100 more. */
void graph_fixture_name(struct graph_fixture *fixture, uint32_t thread, const char *name);

/* No nodes any more. */
void graph_fixture_clear(struct graph_fixture *fixture);

/* The first is the root, whose parent is SIZE_MAX. Returns its index. */
size_t graph_fixture_add(struct graph_fixture *fixture, size_t parent, struct graph_node node);

/* Behind the one before. */
void graph_fixture_add_part(struct graph_fixture *fixture, struct path_part part, uint64_t ns);

/* Of one thread there is a graph of the thread alone. The fixture has to live as long. */
struct graphs_source graph_fixture_source(struct graph_fixture *fixture);

/* From now on none can be made. */
void graph_fixture_fail(struct graph_fixture *fixture);

/* How often something was made. */
unsigned int graph_fixture_trees(const struct graph_fixture *fixture);
unsigned int graph_fixture_paths(const struct graph_fixture *fixture);

/* A small program with a lock, which is what the golden files show. */
void graph_fixture_add_lock(struct graph_fixture *fixture);
