/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long each file and each lock was waited for is known exactly; how much of that at which call
 * path is estimated where stacks were left out. So the estimates of an object are brought to its exact
 * sum. One stack that stands for a hundred waits for a hundred files was seen at one of them: what that
 * one was not waited for, the others were, as far as there are files without a stack.
 * (Ratio estimation: Särndal, Swensson, Wretman: Model Assisted Survey Sampling, 5.6.)
 */
#include "findings/parts/findings_waits.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

/*
 * Of one object: all; of that, at paths whose stacks were all kept; of the others, the longest wait of
 * each, which is certain, and what is estimated beyond these.
 */
struct object_sum {
	enum wait_cause cause;
	uint64_t wait_ns;
	double kept_ns, certain_ns, estimated_ns;
	bool is_seen;
};

struct wait_bounds {
	struct table *objects;
	double others_part[CAUSES]; /* of what is beyond its object's sum */
};

static uint64_t lock_key(uint32_t pid, uint32_t exec_count, uint64_t object)
{
	return hash_u64(object ^ hash_u64((uint64_t)exec_count << 32 | pid));
}

static uint64_t path_key(const struct wait_path *path)
{
	/* The kernel's are no process's own. */
	if (wait_has_klock(&path->facts))
		return lock_key(0, 0, path->object);
	return wait_has_file(&path->facts) ? hash_u64(path->object)
					   : lock_key(path->pid, path->exec_count, path->object);
}

static struct object_sum *find_sum(const struct wait_bounds *bounds, const struct wait_path *path)
{
	return path->has_many_objects ? NULL : table_find(bounds->objects, path_key(path));
}

static void add_object(struct findings *findings, struct wait_bounds *bounds, uint64_t key, enum wait_cause cause,
		       uint64_t wait_ns)
{
	struct object_sum *sum = arena_alloc(findings->arena, sizeof(*sum));

	sum->cause = cause;
	sum->wait_ns = wait_ns;
	table_put(bounds->objects, key, sum);
}

static void add_objects(struct findings *findings, struct wait_bounds *bounds)
{
	const struct wait_file *file;
	const struct wait_lock *lock;
	size_t cursor;

	for (cursor = 0; (file = waits_next_file(findings->input.waits, &cursor));)
		if (file->file)
			add_object(findings, bounds, hash_u64(file->file), file->cause, file->sum.wait_ns);
	for (cursor = 0; (lock = waits_next_lock(findings->input.waits, &cursor));)
		if (!lock->is_others)
			add_object(findings, bounds, lock_key(lock->pid, lock->exec_count, lock->object), lock->cause,
				   lock->sum.wait_ns);
}

static double own_part(const struct wait_bounds *bounds, const struct wait_path *path)
{
	const struct object_sum *sum = find_sum(bounds, path);

	double left_ns, beyond_ns = path->wait_ns - path->max_ns;

	if (!path->is_estimated || !sum || path->wait_ns <= 0)
		return 1;
	left_ns = fmax(sum->wait_ns - sum->kept_ns - sum->certain_ns, 0);
	if (sum->estimated_ns > 0)
		beyond_ns *= left_ns / sum->estimated_ns;
	return (path->max_ns + beyond_ns) / path->wait_ns;
}

static void add_path(struct wait_bounds *bounds, const struct wait_path *path)
{
	struct object_sum *sum = find_sum(bounds, path);

	if (!sum)
		return;
	sum->is_seen = true;
	if (path->is_estimated) {
		sum->certain_ns += path->max_ns;
		sum->estimated_ns += path->wait_ns - path->max_ns;
	} else {
		sum->kept_ns += path->wait_ns;
	}
}

static void share_out(const struct waits *waits, struct wait_bounds *bounds)
{
	double unseen_ns[CAUSES] = { 0 }, beyond_ns[CAUSES] = { 0 };
	const struct object_sum *sum;
	const struct wait_path *path;
	size_t cursor;

	for (cursor = 0; (sum = table_next(bounds->objects, &cursor));)
		if (!sum->is_seen)
			unseen_ns[sum->cause] += sum->wait_ns;
	for (cursor = 0; (path = waits_next_path(waits, &cursor));) {
		double part = own_part(bounds, path);

		if (part < 1)
			beyond_ns[path->cause] += path->wait_ns * (1 - part);
	}
	for (enum wait_cause cause = 0; cause < CAUSES; cause++)
		if (beyond_ns[cause] > 0)
			bounds->others_part[cause] = fmin(unseen_ns[cause] / beyond_ns[cause], 1);
}

struct wait_bounds *findings_bounds_new(struct findings *findings)
{
	struct wait_bounds *bounds = xcalloc(1, sizeof(*bounds));
	const struct wait_path *path;

	bounds->objects = table_new();
	add_objects(findings, bounds);
	for (size_t cursor = 0; (path = waits_next_path(findings->input.waits, &cursor));)
		add_path(bounds, path);
	share_out(findings->input.waits, bounds);
	return bounds;
}

void findings_bounds_free(struct wait_bounds *bounds)
{
	table_free(bounds->objects);
	free(bounds);
}

struct wait_parts findings_parts(const struct wait_bounds *bounds, const struct wait_path *path)
{
	struct wait_parts parts = { .own = own_part(bounds, path) };

	if (parts.own < 1)
		parts.others = (1 - parts.own) * bounds->others_part[path->cause];
	if (parts.others * path->count < 1)
		parts.others = 0;
	return parts;
}
