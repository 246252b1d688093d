/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All lines offset(time) that keep within given bounds: a convex polygon in the plane of value and slope. Each bound cuts
 * a half plane off it (Moon, Skelly, Towsley: Estimation and Removal of Clock Skew from Network Delay Measurements,
 * INFOCOM 1999, seek one such line by linear programming; the polygon says how far all of them are apart). Plain values.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { LINE_SET_CORNERS_MAX = 64 };

/* offset = value_ns + slope * time: times in seconds, slopes in ns a second. */
struct line {
	double value_ns, slope;
};

struct line_set {
	struct line corners[LINE_SET_CORNERS_MAX];
	size_t count; /* 0: no line keeps within all bounds */
};

/* Lines with a slope of at most slope_max either way, and values from low_ns to high_ns at time 0. */
struct line_set line_set_of(double low_ns, double high_ns, double slope_max);

/* Leaves those that are at most (is_upper) or at least limit_ns at the time. False: there are none. */
bool line_set_cut(struct line_set *set, double time, double limit_ns, bool is_upper);

/* The least and the greatest offset of a set that is not empty. */
void line_set_range(const struct line_set *set, double time, double *low_ns, double *high_ns);

/* A line in the middle of a set that is not empty. */
struct line line_set_middle(const struct line_set *set);

static inline double line_at(const struct line *line, double time)
{
	return line->value_ns + line->slope * time;
}
