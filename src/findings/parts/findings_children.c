/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which process somebody waits for that waits for a certain one of his children. */
#include "findings/parts/findings_waits.h"

#include <sys/syscall.h>

#include "base/table.h"

/* As the parent calls it. */
static uint64_t child_key(uint32_t parent_pid, uint32_t ns_pid)
{
	return (uint64_t)parent_pid << 32 | ns_pid;
}

static struct table *index_children(struct findings *findings)
{
	struct table *children = table_new(), *by_number = table_new();
	const struct thread_metrics *metrics;
	const struct thread *parent;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor)))
		if (metrics->thread)
			table_put(by_number, metrics->thread->number, (void *)metrics->thread);
	for (cursor = 0; (metrics = criticality_next_thread(findings->input.criticality, &cursor));) {
		const struct thread *thread = metrics->thread;

		parent = thread ? table_find(by_number, thread->parent) : NULL;
		if (parent && parent->pid != thread->pid)
			table_put(children, child_key(parent->pid, thread->ns_pid), (void *)thread);
	}
	table_free(by_number);
	return children;
}

const char *findings_child_name(struct findings *findings, const struct wait_path *path)
{
	const struct thread *child;

	/* 0, or less, is one of several. */
	if ((path->facts.syscall != SYS_wait4 && path->facts.syscall != SYS_waitid) || (int32_t)path->object <= 0)
		return NULL;
	if (!findings->children)
		findings->children = index_children(findings);
	child = table_find(findings->children, child_key(path->pid, path->object));
	if (!child)
		return NULL;
	return arena_printf(findings->arena, "process %s (%u)", child->name, child->pid);
}
