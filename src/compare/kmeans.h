/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points in so many groups that the squares of their distances to the middle of their group are least, as
 * far as it can be found: k-means++ (Arthur and Vassilvitskii, 2007), begun several times, each time
 * improved by single moves (Hartigan and Wong, 1979). The same points in the same order give the same groups.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { KMEANS_GROUPS_MAX = 8 };

struct points {
	const double *values; /* [rows][columns] */
	size_t rows, columns;
};

double points_distance_squared(const double *a, const double *b, size_t columns);

struct kmeans {
	double *centres;   /* [group_count][columns] */
	uint8_t *group_of; /* [rows] */
	double squares;    /* the sum of what is made least */
};

/* No more groups than there are different points. The caller frees it with kmeans_fini(). */
void kmeans(const struct points *points, unsigned int group_count, struct kmeans *out);
void kmeans_fini(struct kmeans *kmeans);

/*
 * How well points fit into their groups and into no other, from -1 to 1 (Rousseeuw, 1987). Of more than a
 * few thousand, as many are examined, evenly apart in their order.
 */
double silhouette(const struct points *points, const uint8_t *group_of, unsigned int group_count);
