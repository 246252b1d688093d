/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clocks/line_set.h"

struct line_set line_set_of(double low_ns, double high_ns, double slope_max)
{
	return (struct line_set){
		.corners = { { low_ns, -slope_max },
			     { high_ns, -slope_max },
			     { high_ns, slope_max },
			     { low_ns, slope_max } },
		.count = 4,
	};
}

/* How far inside of the bound a line is; below 0: outside. */
static double inside(const struct line *line, double time, double limit_ns, bool is_upper)
{
	double distance = limit_ns - line_at(line, time);

	return is_upper ? distance : -distance;
}

static struct line between(const struct line *a, const struct line *b, double a_inside, double b_inside)
{
	double part = a_inside / (a_inside - b_inside);

	return (struct line){ a->value_ns + part * (b->value_ns - a->value_ns),
			      a->slope + part * (b->slope - a->slope) };
}

/* A polygon with so many corners is left as it is: it holds more lines than it might, never fewer. */
bool line_set_cut(struct line_set *set, double time, double limit_ns, bool is_upper)
{
	struct line_set cut = { .count = 0 };

	for (size_t i = 0; i < set->count; i++) {
		const struct line *a = &set->corners[i], *b = &set->corners[(i + 1) % set->count];
		double a_inside = inside(a, time, limit_ns, is_upper), b_inside = inside(b, time, limit_ns, is_upper);

		if (cut.count + 2 > LINE_SET_CORNERS_MAX)
			return true;
		if (a_inside >= 0)
			cut.corners[cut.count++] = *a;
		if ((a_inside > 0 && b_inside < 0) || (a_inside < 0 && b_inside > 0))
			cut.corners[cut.count++] = between(a, b, a_inside, b_inside);
	}
	*set = cut;
	return set->count;
}

void line_set_range(const struct line_set *set, double time, double *low_ns, double *high_ns)
{
	*low_ns = *high_ns = line_at(&set->corners[0], time);
	for (size_t i = 1; i < set->count; i++) {
		double offset_ns = line_at(&set->corners[i], time);

		if (offset_ns < *low_ns)
			*low_ns = offset_ns;
		if (offset_ns > *high_ns)
			*high_ns = offset_ns;
	}
}

struct line line_set_middle(const struct line_set *set)
{
	struct line middle = { 0 };

	for (size_t i = 0; i < set->count; i++) {
		middle.value_ns += set->corners[i].value_ns / set->count;
		middle.slope += set->corners[i].slope / set->count;
	}
	return middle;
}
