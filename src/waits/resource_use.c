/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/resource_use.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/session.h"

enum { ROWS_MAX = 64 };

struct resource_use {
	struct memory_limit limits[ROWS_MAX];
	struct storage_user users[ROWS_MAX];
	struct cpu_user cpu_users[ROWS_MAX];
	size_t limit_count, user_count, cpu_user_count;
};

/* Names come from a trace, whose bytes may be anything. */
static void copy_name(char *to, const char *from, size_t size)
{
	memcpy(to, from, strnlen(from, size - 1));
}

static void on_limit(void *data, const struct ev_header *header)
{
	const struct ev_resource_memory_limit *e = (const struct ev_resource_memory_limit *)header;
	struct resource_use *use = data;
	struct memory_limit *row = NULL, new_row = { .limit_bytes = e->limit_bytes };

	copy_name(new_row.cgroup, e->cgroup, sizeof(new_row.cgroup));
	for (size_t i = 0; i < use->limit_count; i++)
		if (!strcmp(use->limits[i].cgroup, new_row.cgroup))
			row = &use->limits[i];
	if (!row && use->limit_count == ROWS_MAX)
		return;
	if (!row) {
		row = &use->limits[use->limit_count++];
		*row = new_row;
	}
	row->limit_bytes = e->limit_bytes;
	row->hits += e->hits;
	row->file_refaults += e->file_refaults;
	row->swap_refaults += e->swap_refaults;
}

static void on_storage(void *data, const struct ev_header *header)
{
	const struct ev_resource_storage *e = (const struct ev_resource_storage *)header;
	struct resource_use *use = data;
	struct storage_user *row = NULL, new_row = { .pid = e->pid };

	copy_name(new_row.name, e->name, sizeof(new_row.name));
	for (size_t i = 0; i < use->user_count; i++)
		if (use->users[i].pid == e->pid && !strcmp(use->users[i].name, new_row.name))
			row = &use->users[i];
	if (!row && use->user_count == ROWS_MAX)
		return;
	if (!row) {
		row = &use->users[use->user_count++];
		*row = new_row;
	}
	row->read_bytes += e->read_bytes;
	row->write_bytes += e->write_bytes;
}

static void on_cpu_time(void *data, const struct ev_header *header)
{
	const struct ev_resource_cpu_time *e = (const struct ev_resource_cpu_time *)header;
	struct resource_use *use = data;
	struct cpu_user *row = NULL, new_row = { .pid = e->pid };

	copy_name(new_row.name, e->name, sizeof(new_row.name));
	for (size_t i = 0; i < use->cpu_user_count; i++)
		if (use->cpu_users[i].pid == e->pid && !strcmp(use->cpu_users[i].name, new_row.name))
			row = &use->cpu_users[i];
	if (!row && use->cpu_user_count == ROWS_MAX)
		return;
	if (!row) {
		row = &use->cpu_users[use->cpu_user_count++];
		*row = new_row;
	}
	row->cpu_ns += e->cpu_ns;
}

static const struct event_handler handlers[] = {
	{ EV_RESOURCE_MEMORY_LIMIT, on_limit },
	{ EV_RESOURCE_STORAGE, on_storage },
	{ EV_RESOURCE_CPU_TIME, on_cpu_time },
	{ 0, NULL },
};

struct resource_use *resource_use_new(struct session *session)
{
	struct resource_use *use = xcalloc(1, sizeof(*use));

	session_subscribe(session, handlers, use);
	return use;
}

void resource_use_free(struct resource_use *use)
{
	free(use);
}

const struct memory_limit *resource_use_limits(const struct resource_use *use, size_t *count)
{
	*count = use->limit_count;
	return use->limits;
}

const struct storage_user *resource_use_storage(const struct resource_use *use, size_t *count)
{
	*count = use->user_count;
	return use->users;
}

const struct cpu_user *resource_use_cpus(const struct resource_use *use, size_t *count)
{
	*count = use->cpu_user_count;
	return use->cpu_users;
}
