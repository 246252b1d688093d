/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "states/activity.h"
#include "states/interruptions.h"

enum { USERS_MAX = 1024 };

#define NONE SIZE_MAX

/* A request begins or ends. */
struct edge {
	uint64_t time_ns;
	size_t user;
	bool is_end;
};

/* Who has requests; of all that there is no space for, both ids are 0. */
struct user {
	uint32_t thread, tid;
	uint64_t open; /* of its requests */
	size_t use;    /* under way; NONE: none is open */
};

struct sweep {
	struct user *users;
	size_t user_count, user_capacity;
	struct edge *edges;
	size_t edge_count, edge_capacity;
	struct disk_use *uses;
	size_t use_count, use_capacity;
	uint64_t from_ns, to_ns;
};

/* The last one stands for all that there is no space for. */
static size_t user_of(struct sweep *sweep, const struct activity *activity)
{
	size_t i = 0;

	while (i < sweep->user_count &&
	       (sweep->users[i].thread != activity->thread || sweep->users[i].tid != activity->tid))
		i++;
	if (i < sweep->user_count)
		return i;
	if (sweep->user_count == USERS_MAX) {
		sweep->users[USERS_MAX - 1].thread = sweep->users[USERS_MAX - 1].tid = 0;
		return USERS_MAX - 1;
	}
	ARRAY_GROW(sweep->users, sweep->user_count, sweep->user_capacity, 16);
	sweep->users[sweep->user_count] = (struct user){
		.thread = activity->thread,
		.tid = activity->tid,
		.use = NONE,
	};
	return sweep->user_count++;
}

static void add_edge(struct sweep *sweep, uint64_t time_ns, size_t user, bool is_end)
{
	ARRAY_GROW(sweep->edges, sweep->edge_count, sweep->edge_capacity, 32);
	sweep->edges[sweep->edge_count++] = (struct edge){ time_ns, user, is_end };
}

static void gather(void *data, const struct activity *activity)
{
	struct sweep *sweep = data;
	uint64_t begin_ns = activity->begin_ns, end_ns = activity->end_ns;
	size_t user;

	if (activity->kind != ACTIVITY_DISK)
		return;
	user = user_of(sweep, activity);
	add_edge(sweep, begin_ns > sweep->from_ns ? begin_ns : sweep->from_ns, user, false);
	add_edge(sweep, end_ns < sweep->to_ns ? end_ns : sweep->to_ns, user, true);
}

static int by_time(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->is_end - y->is_end;
}

/* Splits ns among those with requests under way; what a division leaves goes to the first ones. */
static void split(struct sweep *sweep, uint64_t ns, uint64_t open)
{
	uint64_t each = ns / open, rest = ns % open;

	for (size_t i = 0; i < sweep->user_count; i++) {
		const struct user *user = &sweep->users[i];
		uint64_t extra = rest < user->open ? rest : user->open;

		if (user->open)
			sweep->uses[user->use].ns += each * user->open + extra;
		rest -= extra;
	}
}

static void open_one(struct sweep *sweep, struct user *user, uint64_t time_ns)
{
	if (user->open++)
		return;
	ARRAY_GROW(sweep->uses, sweep->use_count, sweep->use_capacity, 16);
	user->use = sweep->use_count++;
	sweep->uses[user->use] = (struct disk_use){
		.begin_ns = time_ns,
		.thread = user->thread,
		.tid = user->tid,
	};
}

static void close_one(struct sweep *sweep, struct user *user, uint64_t time_ns)
{
	if (--user->open)
		return;
	sweep->uses[user->use].end_ns = time_ns;
	user->use = NONE;
}

struct disk_use *disk_uses_of(struct activities *activities, uint64_t from_ns, uint64_t to_ns, size_t *count,
			      uint64_t *idle_ns)
{
	struct sweep sweep = { .from_ns = from_ns, .to_ns = to_ns };
	uint64_t at_ns = from_ns, open = 0;

	*idle_ns = 0;
	activities_each(activities, from_ns, to_ns, gather, &sweep);
	if (sweep.edge_count)
		qsort(sweep.edges, sweep.edge_count, sizeof(*sweep.edges), by_time);
	for (size_t i = 0; i <= sweep.edge_count; i++) {
		const struct edge *edge = i < sweep.edge_count ? &sweep.edges[i] : NULL;
		uint64_t time_ns = edge ? edge->time_ns : to_ns;

		if (open)
			split(&sweep, time_ns - at_ns, open);
		else
			*idle_ns += time_ns - at_ns;
		at_ns = time_ns;
		if (!edge)
			break;
		open += edge->is_end ? -1 : 1;
		if (edge->is_end)
			close_one(&sweep, &sweep.users[edge->user], time_ns);
		else
			open_one(&sweep, &sweep.users[edge->user], time_ns);
	}
	free(sweep.users);
	free(sweep.edges);
	*count = sweep.use_count;
	return sweep.uses;
}
