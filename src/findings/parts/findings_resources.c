/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>

#include "waits/resource_use.h"

enum { USERS_MAX = 8 };

static uint64_t refaults_of(const struct report_memory_limit *row)
{
	return row->file_refaults + row->swap_refaults;
}

static int limits_by_refaults(const void *a, const void *b)
{
	const struct report_memory_limit *x = a, *y = b;

	if (refaults_of(x) != refaults_of(y))
		return refaults_of(x) < refaults_of(y) ? 1 : -1;
	return strcmp(x->cgroup, y->cgroup);
}

static void add_limits(struct findings *findings, struct report_resources *out)
{
	size_t count;
	const struct memory_limit *limits = resource_use_limits(findings->input.resources, &count);
	struct report_memory_limit *rows = arena_alloc(findings->arena, (count + 1) * sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct report_memory_limit){
			.cgroup = arena_strdup(findings->arena, limits[i].cgroup),
			.limit_bytes = limits[i].limit_bytes,
			.hits = limits[i].hits,
			.file_refaults = limits[i].file_refaults,
			.swap_refaults = limits[i].swap_refaults,
		};
	if (count)
		qsort(rows, count, sizeof(*rows), limits_by_refaults);
	out->memory_limits = rows;
	out->memory_limit_count = count;
}

static int users_by_bytes(const void *a, const void *b)
{
	const struct report_storage_user *x = a, *y = b;
	uint64_t x_bytes = x->read_bytes + x->write_bytes, y_bytes = y->read_bytes + y->write_bytes;

	if (x_bytes != y_bytes)
		return x_bytes < y_bytes ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void add_storage(struct findings *findings, struct report_resources *out)
{
	size_t count, used = 0;
	const struct storage_user *users = resource_use_storage(findings->input.resources, &count);
	struct report_storage_user *rows = arena_alloc(findings->arena, (count + 1) * sizeof(*rows));

	for (size_t i = 0; i < count; i++) {
		if (!users[i].pid) {
			out->read_bytes = users[i].read_bytes;
			out->write_bytes = users[i].write_bytes;
			continue;
		}
		rows[used++] = (struct report_storage_user){
			.name = arena_strdup(findings->arena, users[i].name),
			.pid = users[i].pid,
			.read_bytes = users[i].read_bytes,
			.write_bytes = users[i].write_bytes,
		};
	}
	if (used)
		qsort(rows, used, sizeof(*rows), users_by_bytes);
	out->storage_users = rows;
	out->storage_user_count = used < USERS_MAX ? used : USERS_MAX;
}

static int users_by_cpu_time(const void *a, const void *b)
{
	const struct report_cpu_user *x = a, *y = b;

	if (x->cpu_ns != y->cpu_ns)
		return x->cpu_ns < y->cpu_ns ? 1 : -1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

static void add_cpus(struct findings *findings, struct report_resources *out)
{
	size_t count;
	const struct cpu_user *users = resource_use_cpus(findings->input.resources, &count);
	struct report_cpu_user *rows = arena_alloc(findings->arena, (count + 1) * sizeof(*rows));

	for (size_t i = 0; i < count; i++)
		rows[i] = (struct report_cpu_user){
			.name = arena_strdup(findings->arena, users[i].name),
			.pid = users[i].pid,
			.cpu_ns = users[i].cpu_ns,
		};
	if (count)
		qsort(rows, count, sizeof(*rows), users_by_cpu_time);
	out->cpu_users = rows;
	out->cpu_user_count = count < USERS_MAX ? count : USERS_MAX;
}

void findings_add_resources(struct findings *findings)
{
	if (!findings->input.resources)
		return;
	add_limits(findings, &findings->report.resources);
	add_storage(findings, &findings->report.resources);
	add_cpus(findings, &findings->report.resources);
}
