/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "graph_fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "findings/names/path_names.h"
#include "graph/graph_label.h"
#include "session/session.h"
#include "session/threads.h"
#include "stacks/stacks.h"
#include "symbol/symbol.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/wait_cause.h"

enum { FIRST_NS = 1000000000, SYSCALL_FUTEX = 202 };

struct graph_fixture {
	struct session *session;
	struct threads *threads;
	struct stacks *stacks;
	struct symbols *symbols;
	struct files *files;
	struct others *others;
	struct path_names *names;
	struct graph_node *nodes;
	size_t count, capacity;
	struct path_part *parts;
	size_t part_count, part_capacity;
	uint64_t end_ns;
	bool fails;
	unsigned int trees, paths;
};

struct graph_fixture *graph_fixture_new(void)
{
	struct graph_fixture *fixture = xcalloc(1, sizeof(*fixture));

	fixture->session = session_new(1, 1 << 20);
	fixture->threads = threads_new(fixture->session);
	fixture->stacks = stacks_new(fixture->session, 0);
	fixture->symbols = symbols_new(fixture->session);
	symbols_set_offline(fixture->symbols, false);
	fixture->files = files_new(fixture->session, 0);
	fixture->others = others_new(fixture->session);
	fixture->names = path_names_new(fixture->symbols, fixture->stacks, NULL);
	fixture->end_ns = FIRST_NS;
	return fixture;
}

void graph_fixture_free(struct graph_fixture *fixture)
{
	path_names_free(fixture->names);
	others_free(fixture->others);
	files_free(fixture->files);
	symbols_free(fixture->symbols);
	stacks_free(fixture->stacks);
	threads_free(fixture->threads);
	session_free(fixture->session);
	free(fixture->nodes);
	free(fixture->parts);
	free(fixture);
}

void graph_fixture_name(struct graph_fixture *fixture, uint32_t number, const char *name)
{
	struct thread *thread = threads_get(fixture->threads, number);

	snprintf(thread->name, sizeof(thread->name), "%s", name);
	thread->tid = 100 + number;
}

void graph_fixture_clear(struct graph_fixture *fixture)
{
	fixture->count = 0;
}

/* As a graph has its children: by time, the first of equals first. */
static void link_node(struct graph_node *nodes, size_t at)
{
	struct graph_node *node = &nodes[at], *parent;
	size_t before;

	node->first = node->last = node->next = SIZE_MAX;
	if (node->parent == SIZE_MAX)
		return;
	parent = &nodes[node->parent];
	if (parent->first == SIZE_MAX || nodes[parent->first].ns < node->ns) {
		node->next = parent->first;
		parent->first = at;
	} else {
		before = nodes[parent->last].ns >= node->ns ? parent->last : parent->first;
		while (nodes[before].next != SIZE_MAX && nodes[nodes[before].next].ns >= node->ns)
			before = nodes[before].next;
		node->next = nodes[before].next;
		nodes[before].next = at;
	}
	if (node->next == SIZE_MAX)
		parent->last = at;
}

size_t graph_fixture_add(struct graph_fixture *fixture, size_t parent, struct graph_node node)
{
	if (fixture->count == fixture->capacity) {
		fixture->capacity = fixture->capacity ? 2 * fixture->capacity : 64;
		fixture->nodes = xrealloc(fixture->nodes, fixture->capacity, sizeof(*fixture->nodes));
	}
	node.parent = parent;
	fixture->nodes[fixture->count] = node;
	link_node(fixture->nodes, fixture->count);
	return fixture->count++;
}

void graph_fixture_add_part(struct graph_fixture *fixture, struct path_part part, uint64_t ns)
{
	part.begin_ns = fixture->end_ns;
	part.end_ns = fixture->end_ns += ns;
	if (fixture->part_count == fixture->part_capacity) {
		fixture->part_capacity = fixture->part_capacity ? 2 * fixture->part_capacity : 64;
		fixture->parts = xrealloc(fixture->parts, fixture->part_capacity, sizeof(part));
	}
	fixture->parts[fixture->part_count++] = part;
}

static struct graph_labels *labels_of(struct graph_fixture *fixture, bool is_merged)
{
	struct graph_labels *labels = graph_labels_new(&(struct graph_names){
		.threads = fixture->threads,
		.others = fixture->others,
		.files = fixture->files,
		.symbols = fixture->symbols,
		.paths = fixture->names,
	});

	graph_labels_group(labels, is_merged);
	return labels;
}

static int make_tree(void *data, uint32_t thread, bool is_merged, struct graphs_tree *out)
{
	struct graph_fixture *fixture = data;
	size_t count = thread ? 1 : fixture->count;

	fixture->trees++;
	if (fixture->fails)
		return -EIO;
	out->labels = labels_of(fixture, is_merged);
	out->graph.count = count;
	out->graph.nodes = xcalloc(count + 1, sizeof(*out->graph.nodes));
	if (thread)
		*out->graph.nodes = (struct graph_node){
			.kind = GRAPH_THREAD,
			.id = thread,
			.ns = 1000,
			.count = 1,
			.parent = SIZE_MAX,
			.first = SIZE_MAX,
			.last = SIZE_MAX,
			.next = SIZE_MAX,
		};
	else if (count)
		memcpy(out->graph.nodes, fixture->nodes, count * sizeof(*fixture->nodes));
	return 0;
}

static int make_path(void *data, uint32_t thread, bool is_merged, struct graphs_path *out)
{
	struct graph_fixture *fixture = data;
	size_t count = fixture->part_count;

	fixture->paths++;
	if (fixture->fails)
		return -EIO;
	out->labels = labels_of(fixture, is_merged);
	out->thread = thread ? thread : 1;
	out->first_ns = FIRST_NS;
	out->path.parts = xcalloc(count + 1, sizeof(*out->path.parts));
	out->path.count = count;
	if (count)
		memcpy(out->path.parts, fixture->parts, count * sizeof(*fixture->parts));
	return 0;
}

struct graphs_source graph_fixture_source(struct graph_fixture *fixture)
{
	return (struct graphs_source){ fixture, make_tree, make_path };
}

void graph_fixture_fail(struct graph_fixture *fixture)
{
	fixture->fails = true;
}

unsigned int graph_fixture_trees(const struct graph_fixture *fixture)
{
	return fixture->trees;
}

unsigned int graph_fixture_paths(const struct graph_fixture *fixture)
{
	return fixture->paths;
}

static size_t add(struct graph_fixture *fixture, size_t parent, enum graph_kind kind, uint32_t id, uint64_t ms,
		  uint64_t count)
{
	return graph_fixture_add(fixture, parent,
				 (struct graph_node){
					 .kind = kind,
					 .id = id,
					 .ns = ms * 1000000,
					 .count = count,
				 });
}

static size_t add_wait(struct graph_fixture *fixture, size_t parent, enum wait_cause cause, uint64_t ms, uint64_t count)
{
	return graph_fixture_add(fixture, parent,
				 (struct graph_node){
					 .kind = GRAPH_WAIT,
					 .ns = ms * 1000000,
					 .count = count,
					 .wait = { .object = 0x5000,
						   .thread = 1,
						   .time_ns = 1,
						   .cause = cause,
						   .syscall = cause == CAUSE_LOCK ? SYSCALL_FUTEX : 0 },
				 });
}

void graph_fixture_add_lock(struct graph_fixture *fixture)
{
	size_t root = add(fixture, SIZE_MAX, GRAPH_THREADS, 0, 4000, 1), thread, wait;
	struct path_part part = { .thread = 1, .kind = GRAPH_RUNNING };

	graph_fixture_name(fixture, 1, "main");
	graph_fixture_name(fixture, 2, "worker-1");
	graph_fixture_name(fixture, 3, "\033[31mred\n");
	thread = add(fixture, root, GRAPH_THREAD, 1, 2500, 1);
	add(fixture, thread, GRAPH_RUNNING, 0, 500, 120);
	wait = add_wait(fixture, thread, CAUSE_LOCK, 2000, 40);
	thread = add(fixture, wait, GRAPH_THREAD, 2, 1900, 40);
	wait = add_wait(fixture, thread, CAUSE_LOCK, 1000, 30);
	fixture->nodes[add(fixture, wait, GRAPH_THREAD, 1, 1000, 30)].is_cycle = true;
	add(fixture, thread, GRAPH_CPU, 0, 900, 7);
	fixture->nodes[add(fixture, wait, GRAPH_TIMER, 0, 100, 3)].is_cut = true;
	thread = add(fixture, root, GRAPH_THREAD, 2, 1490, 1);
	add(fixture, thread, GRAPH_RUNNING, 0, 1490, 3000);
	thread = add(fixture, root, GRAPH_THREAD, 3, 10, 1);
	wait = add_wait(fixture, thread, CAUSE_FILE, 10, 2);
	add(fixture, wait, GRAPH_DISK, 0, 10, 2);
	for (int i = 0; i < 4; i++) {
		graph_fixture_add_part(fixture, part, 20000000 + i);
		part.depth = 1 - part.depth;
		part.thread = 3 - part.thread;
	}
	graph_fixture_name(fixture, 4, "a_long_name_too");
	part.thread = 4;
	part.kind = GRAPH_DISK;
	part.wait = (struct graph_wait){ .thread = 1, .time_ns = 1, .cause = CAUSE_FILE };
	graph_fixture_add_part(fixture, part, 1500000);
}
