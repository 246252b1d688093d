/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many waits there were without a stack, for what and how long, is known exactly; where they were is estimated
 * from those that had one. So the estimates of an object, in each class of lengths, are brought to its exact sum
 * (ratio estimation: Särndal, Swensson, Wretman: Model Assisted Survey Sampling, 5.6, 7.6). One stack that stands for a
 * hundred waits for a hundred files was seen at one of them: what that one was not waited for, the others were, as
 * far as there are objects without a stack.
 *
 * So no row is more than its total: each wait without a stack is given to one call path, or to none. In each cause
 * and class, paths get of an object what it has (own), and of all objects without a path no more than these have
 * (others).
 */
#include "findings/parts/findings_waits.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/table.h"

/* An object of waits with one cause. */
struct bound_object {
	const struct wait_unseen_row *unseen;
	struct wait_classes excess;   /* that its paths estimate */
	const struct wait_path *main; /* of these, the one with most waits; NULL: none */
	double path_waits;
};

struct wait_bounds {
	const struct waits *waits;
	struct table *objects; /* by struct wait_unseen_row */
	/* Of objects without a path; and what estimates are beyond their own objects. */
	struct wait_classes left[CAUSES], beyond[CAUSES];
};

static double part_of(double sum, double estimate)
{
	return estimate > 0 ? sum / estimate : 0;
}

/* NULL: all waits for it had stacks, or it is one of many. */
static struct bound_object *find_object(const struct wait_bounds *bounds, const struct wait_path *path)
{
	const struct wait_unseen_row *unseen;

	if (path->has_many_objects)
		return NULL;
	unseen = waits_find_unseen(bounds->waits, wait_space(&path->facts, path->cause, path->pid, path->exec_count),
				   path->cause, path->object);
	return unseen ? table_find(bounds->objects, (uintptr_t)unseen) : NULL;
}

/* What is below 0 is the rounding of what was taken back. */
static struct wait_amount positive(const struct wait_amount *amount)
{
	struct wait_amount out;

	for (size_t m = 0; m < WAIT_MEASURES; m++)
		out.of[m] = fmax(amount->of[m], 0);
	return out;
}

static void add_classes(struct wait_classes *sum, const struct wait_classes *classes)
{
	for (size_t k = 0; k < WAIT_CLASSES; k++) {
		struct wait_amount amount = positive(&classes->at[k]);

		wait_amount_add(&sum->at[k], &amount, 1);
	}
}

static void add_objects(struct findings *findings, struct wait_bounds *bounds)
{
	const struct wait_unseen_row *unseen;
	struct bound_object *object;
	const struct wait_path *path;
	size_t cursor;

	for (cursor = 0; (unseen = waits_next_unseen(bounds->waits, &cursor));) {
		object = arena_alloc(findings->arena, sizeof(*object));
		object->unseen = unseen;
		table_put(bounds->objects, (uintptr_t)unseen, object);
	}
	for (cursor = 0; (path = waits_next_path(bounds->waits, &cursor));) {
		object = find_object(bounds, path);
		if (!object)
			continue;
		object->path_waits += path->count;
		if (!object->main || path->count > object->main->count)
			object->main = path;
		if (path->excess)
			add_classes(&object->excess, path->excess);
	}
}

/*
 * Whether next to all waits for the object were at the path: then those were, too, that no stack is like in length.
 * They are few: long ones are left out only of threads whose waits were short before (bpf/sched.bpf.c).
 */
static bool has_most(const struct bound_object *object, const struct wait_path *path)
{
	static const double most = 0.95;

	return object && object->main == path && path->excess && path->count >= most * object->path_waits;
}

/* What the estimates of a path in a class come to, of its own object; and by how much they are beyond that. */
static struct wait_amount own_of(const struct bound_object *object, const struct wait_path *path, size_t k,
				 struct wait_amount *beyond)
{
	struct wait_amount own = { 0 }, excess = { 0 }, sum = { 0 };

	if (path->excess)
		excess = positive(&path->excess->at[k]);
	if (object)
		sum = positive(&object->unseen->classes.at[k]);
	for (size_t m = 0; m < WAIT_MEASURES; m++) {
		double all = object ? object->excess.at[k].of[m] : 0;

		if (all > 0)
			own.of[m] = excess.of[m] * (sum.of[m] / all);
		else if (has_most(object, path))
			own.of[m] = sum.of[m];
		beyond->of[m] = fmax(excess.of[m] - own.of[m], 0);
	}
	return own;
}

static void share_out(struct wait_bounds *bounds)
{
	const struct bound_object *object;
	const struct wait_path *path;
	size_t cursor;

	for (cursor = 0; (object = table_next(bounds->objects, &cursor));)
		if (!object->main)
			add_classes(&bounds->left[object->unseen->cause], &object->unseen->classes);
	for (cursor = 0; (path = waits_next_path(bounds->waits, &cursor));) {
		object = find_object(bounds, path);
		for (size_t k = 0; k < WAIT_CLASSES; k++) {
			struct wait_amount beyond;

			own_of(object, path, k, &beyond);
			wait_amount_add(&bounds->beyond[path->cause].at[k], &beyond, 1);
		}
	}
}

struct wait_bounds *findings_bounds_new(struct findings *findings)
{
	struct wait_bounds *bounds = xcalloc(1, sizeof(*bounds));

	bounds->waits = findings->input.waits;
	bounds->objects = table_new();
	add_objects(findings, bounds);
	share_out(bounds);
	return bounds;
}

void findings_bounds_free(struct wait_bounds *bounds)
{
	table_free(bounds->objects);
	free(bounds);
}

struct wait_parts findings_parts(const struct wait_bounds *bounds, const struct wait_path *path)
{
	const struct bound_object *object = find_object(bounds, path);
	struct wait_parts parts = { .own = path->certain, .max_ns = path->max_ns };

	for (size_t k = 0; k < WAIT_CLASSES; k++) {
		const struct wait_amount *left = &bounds->left[path->cause].at[k];
		struct wait_amount own, beyond;

		own = own_of(object, path, k, &beyond);
		wait_amount_add(&parts.own, &own, 1);
		for (size_t m = 0; m < WAIT_MEASURES; m++)
			parts.others.of[m] +=
				beyond.of[m] * fmin(part_of(left->of[m], bounds->beyond[path->cause].at[k].of[m]), 1);
	}
	if (has_most(object, path) && object->unseen->max_ns > parts.max_ns)
		parts.max_ns = object->unseen->max_ns;
	if (parts.others.of[WAIT_COUNT] < 1)
		parts.others = (struct wait_amount){ 0 };
	return parts;
}

struct wait_amount findings_nowhere(const struct wait_bounds *bounds, const struct wait_lock *lock)
{
	uint64_t space = (uint64_t)lock->exec_count << 32 | lock->pid;
	const struct wait_unseen_row *unseen = waits_find_unseen(bounds->waits, space, lock->cause, lock->object);
	const struct bound_object *object = unseen ? table_find(bounds->objects, (uintptr_t)unseen) : NULL;
	struct wait_amount sum = { 0 };

	if (!object || !object->main || has_most(object, object->main))
		return sum;
	for (size_t k = 0; k < WAIT_CLASSES; k++) {
		struct wait_amount all = positive(&unseen->classes.at[k]);

		for (size_t m = 0; m < WAIT_MEASURES; m++)
			if (!(object->excess.at[k].of[m] > 0))
				sum.of[m] += all.of[m];
	}
	return sum;
}
