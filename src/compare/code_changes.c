/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/code_changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/difference.h"

static const double chance_max = 0.05;

/* Fewer samples on both sides together carry no difference. */
enum { SAMPLES_MIN = 8 };

static struct code_difference difference_of_times(const struct code_time *first, const struct code_time *second)
{
	struct code_difference d = {
		.ns = { first->ns, second->ns },
		.error_ns = { first->error_ns, second->error_ns },
		.delta_ns = second->ns - first->ns,
		.delta_error_ns = hypot(first->error_ns, second->error_ns),
		.chance = 1,
	};

	return d;
}

static struct code_time time_of(const struct side_code *side, const struct side_function *function, bool is_total,
				double scale)
{
	if (!function)
		return (struct code_time){ 0, side->absent_error_ns * scale };
	if (is_total)
		return (struct code_time){ function->total.ns * scale, function->total.error_ns * scale };
	return (struct code_time){ function->self.ns * scale, function->self.error_ns * scale };
}

static void add(struct code_changes *changes, const struct side_code sides[2], const double scale[2],
		const struct side_function *first, const struct side_function *second)
{
	struct code_change *change = &changes->list[changes->count];
	struct code_time times[2];

	/* What is missing because there was no space for it has not changed for that. */
	if ((!first && sides[0].is_cut) || (!second && sides[1].is_cut))
		return;
	*change = (struct code_change){
		.name = first ? first->name : second->name,
		.is_own = (first && first->is_own) || (second && second->is_own),
		.samples = { first ? first->samples : 0, second ? second->samples : 0 },
	};
	times[0] = time_of(&sides[0], first, false, scale[0]);
	times[1] = time_of(&sides[1], second, false, scale[1]);
	change->self = difference_of_times(&times[0], &times[1]);
	times[0] = time_of(&sides[0], first, true, scale[0]);
	times[1] = time_of(&sides[1], second, true, scale[1]);
	change->total = difference_of_times(&times[0], &times[1]);
	changes->count++;
}

/* --- Which are significant ----------------------------------------------------------------------------- */

/* Not by the difference itself: all that might differ count as asked. */
static bool is_asked(const struct code_change *change, const struct code_difference *d, double least_ns)
{
	return change->samples[0] + change->samples[1] >= SAMPLES_MIN && fmax(d->ns[0], d->ns[1]) >= least_ns;
}

static bool is_large(const struct code_difference *d, double least_ns)
{
	return d->delta_ns != 0 && fabs(d->delta_ns) >= least_ns;
}

/* Two-sided. */
static double chance_of(const struct code_difference *d, double freedom)
{
	double t = d->delta_error_ns > 0 ? fabs(d->delta_ns) / d->delta_error_ns : INFINITY;

	if (isinf(t))
		return 0;
	return isinf(freedom) ? erfc(t / M_SQRT2) : student_chance(t, freedom);
}

/* The differences that are asked for, with their chances. */
struct asked {
	struct difference *list;
	struct code_difference **of;
	size_t count;
	double least_ns, freedom;
};

static void ask(struct asked *asked, const struct code_change *change, struct code_difference *d)
{
	if (!is_asked(change, d, asked->least_ns))
		return;
	asked->list[asked->count] = (struct difference){ .chance = chance_of(d, asked->freedom) };
	asked->of[asked->count++] = d;
}

static void judge(struct code_changes *changes, double least_ns, double freedom, bool has_total)
{
	size_t capacity = 2 * changes->count + 1;
	struct difference **list = xcalloc(capacity, sizeof(struct difference *));
	struct asked asked = {
		.list = xcalloc(capacity, sizeof(*asked.list)),
		.of = xcalloc(capacity, sizeof(struct code_difference *)),
		.least_ns = least_ns,
		.freedom = freedom,
	};

	for (size_t i = 0; i < changes->count; i++) {
		ask(&asked, &changes->list[i], &changes->list[i].self);
		if (has_total)
			ask(&asked, &changes->list[i], &changes->list[i].total);
	}
	for (size_t i = 0; i < asked.count; i++)
		list[i] = &asked.list[i];
	differences_correct(list, asked.count);
	for (size_t i = 0; i < asked.count; i++) {
		asked.of[i]->chance = asked.list[i].chance;
		asked.of[i]->is_significant = asked.list[i].chance < chance_max && is_large(asked.of[i], least_ns);
	}
	free(asked.list);
	free(asked.of);
	free(list);
}

static bool is_unsure(const struct code_difference *d, double least_ns)
{
	return is_large(d, least_ns) && fabs(d->delta_ns) > d->delta_error_ns;
}

static void drop_insignificant(struct code_changes *changes, double least_ns, bool has_total)
{
	size_t count = 0;

	for (size_t i = 0; i < changes->count; i++) {
		const struct code_change *change = &changes->list[i];

		if (change->self.is_significant || change->total.is_significant)
			changes->list[count++] = *change;
		else
			changes->unsure_count += is_unsure(&change->self, least_ns) ||
						 (has_total && is_unsure(&change->total, least_ns));
	}
	changes->count = count;
}

static double told_ns(const struct code_difference *d)
{
	return d->is_significant ? fabs(d->delta_ns) : 0;
}

static int by_size(const void *a, const void *b)
{
	const struct code_change *x = a, *y = b;

	if (told_ns(&x->self) != told_ns(&y->self))
		return told_ns(&x->self) < told_ns(&y->self) ? 1 : -1;
	if (told_ns(&x->total) != told_ns(&y->total))
		return told_ns(&x->total) < told_ns(&y->total) ? 1 : -1;
	return strcmp(x->name, y->name);
}

void code_changes_find(const struct side_code sides[2], const double scale[2], double least_ns, bool has_total,
		       struct code_changes *out)
{
	*out = (struct code_changes){ .list = xcalloc(sides[0].count + sides[1].count + 1, sizeof(*out->list)) };
	for (size_t i = 0; i < sides[0].count; i++)
		add(out, sides, scale, &sides[0].functions[i], side_code_find(&sides[1], sides[0].functions[i].name));
	for (size_t i = 0; i < sides[1].count; i++)
		if (!side_code_find(&sides[0], sides[1].functions[i].name))
			add(out, sides, scale, NULL, &sides[1].functions[i]);
	judge(out, least_ns, fmin(sides[0].freedom, sides[1].freedom), has_total);
	drop_insignificant(out, least_ns, has_total);
	qsort(out->list, out->count, sizeof(*out->list), by_size);
}

void code_changes_fini(struct code_changes *changes)
{
	free(changes->list);
	*changes = (struct code_changes){ 0 };
}
