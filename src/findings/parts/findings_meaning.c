/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/findings_meaning.h"

#include <string.h>

#include "findings/parts/findings_internal.h"
#include "session/syscalls.h"
#include "waits/sums/wait_rows.h"

static bool may_be_idle(enum wait_cause cause)
{
	switch (cause) {
	case CAUSE_LOCK:
	case CAUSE_BARRIER:
	case CAUSE_FILE:
	case CAUSE_PAGE_FAULT:
	case CAUSE_KERNEL_LOCK:
	case CAUSE_THROTTLED:
		return false;
	default:
		return true;
	}
}

double findings_idle_ns(enum wait_cause cause, double idle_ns)
{
	return may_be_idle(cause) ? idle_ns : 0;
}

double findings_idle_of(const struct wait_meaning *meaning, double idle_ns, double wait_ns)
{
	if (meaning->is_in_callback)
		return 0;
	if (meaning->is_idle)
		return wait_ns;
	/* That an unknown futex is a lock is a guess. */
	if (!meaning->is_named && meaning->lock_kind && !strcmp(meaning->lock_kind, "futex"))
		return idle_ns;
	return findings_idle_ns(meaning->cause, idle_ns);
}

struct wait_meaning findings_meaning(struct findings *findings, const struct wait_path *path)
{
	return path_names_meaning(findings->names, path->pid, path->first_ns, path->stack, &path->facts, path->cause);
}

const char *findings_other_call(enum wait_cause cause, uint32_t syscall)
{
	return cause == CAUSE_OTHER ? syscall_name(syscall) : NULL;
}

const char *findings_object_of(struct findings *findings, const struct wait_path *path, enum wait_cause cause)
{
	const char *name;

	if (path->has_many_objects)
		return NULL;
	name = object_name(&findings->objects, path->pid, path->first_ns, &path->facts, path->cause, cause);
	return name || path->cause != CAUSE_CHILD ? name : findings_child_name(findings, path);
}
