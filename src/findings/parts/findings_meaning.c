/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/parts/findings_meaning.h"

#include <math.h>
#include <string.h>

#include "account/criticality.h"
#include "chains/blocked_on.h"
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

/* Whether threads wait there for a time that they have set. */
static bool is_sleep(const struct wait_path *path)
{
	double timed_ns = 0;

	if (path->cause == CAUSE_SLEEP)
		return !wait_has_file(&path->facts);
	if (path->cause != CAUSE_CONDITION && path->cause != CAUSE_SEMAPHORE)
		return false;
	for (const struct wait_waker *waker = path->wakers; waker; waker = waker->next)
		timed_ns += waker->kind == WAKER_TIMER ? waker->wait_ns : 0;
	return 2 * timed_ns > path->wait_ns;
}

/* What those did who were waited for: the time of all, and what they slept idly. */
static void add_slept(const struct blocked_sum *sum, double *all_ns, double *slept_ns)
{
	for (size_t i = 0; i < BLOCKED_KINDS; i++)
		*all_ns += sum->ns[i];
	for (const struct blocked_wait *wait = sum->waits; wait; wait = wait->next)
		if (wait->path && wait->path->wait_ns > 0 && is_sleep(wait->path))
			*slept_ns += blocked_sum_wait_ns(sum, wait) *
				     fmin(fmax(wait->path->idle_ns / wait->path->wait_ns, 0), 1);
	for (const struct blocked_sum *link = sum->links; link; link = link->next)
		add_slept(link, all_ns, slept_ns);
}

/* So much of the waits at the path was for threads that slept, for which they would be idle. */
static double slept_part(struct findings *findings, const struct wait_path *path)
{
	const struct blocked_sum *sum = blocked_on_sum(criticality_blocked_on(findings->input.criticality), path);
	double all_ns = 0, slept_ns = 0;

	if (sum)
		add_slept(sum, &all_ns, &slept_ns);
	return slept_ns > 0 ? fmin(slept_ns / fmax(all_ns, path->wait_ns), 1) : 0;
}

double findings_idle_of(struct findings *findings, const struct wait_path *path, const struct wait_meaning *meaning,
			double idle_ns, double wait_ns)
{
	if (meaning->is_in_callback)
		return 0;
	if (meaning->is_idle)
		return wait_ns;
	if (meaning->is_for_result && path && may_be_idle(meaning->cause))
		return fmax(idle_ns - slept_part(findings, path) * wait_ns, 0);
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
