/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/kmeans.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/table.h"

enum { RESTARTS = 16, ROUNDS_MAX = 100, SILHOUETTE_ROWS_MAX = 2000 };

/* One attempt. */
struct attempt {
	const struct points *points;
	unsigned int group_count;
	struct kmeans result;
	size_t sizes[KMEANS_GROUPS_MAX];
	double *nearest; /* [rows]: the square of the distance to a centre */
	uint64_t random;
};

double points_distance_squared(const double *a, const double *b, size_t columns)
{
	double sum = 0;

	for (size_t i = 0; i < columns; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

static double pick(struct attempt *attempt)
{
	attempt->random = hash_u64(attempt->random + 0x9e3779b97f4a7c15ull);
	return (attempt->random >> 11) * 0x1p-53;
}

static const double *row_of(const struct attempt *attempt, size_t row)
{
	return attempt->points->values + row * attempt->points->columns;
}

static double *centre_of(const struct attempt *attempt, unsigned int group)
{
	return attempt->result.centres + group * attempt->points->columns;
}

static double distance(const struct attempt *attempt, size_t row, unsigned int group)
{
	return points_distance_squared(row_of(attempt, row), centre_of(attempt, group), attempt->points->columns);
}

/* --- k-means++ -------------------------------------------------------------------------------- */

static void put_centre(struct attempt *attempt, unsigned int group, size_t row)
{
	memcpy(centre_of(attempt, group), row_of(attempt, row), attempt->points->columns * sizeof(double));
	for (size_t i = 0; i < attempt->points->rows; i++) {
		double square = distance(attempt, i, group);

		if (!group || square < attempt->nearest[i])
			attempt->nearest[i] = square;
	}
}

/* With a probability that grows with the square of the distance to the centres that there are. */
static size_t pick_row(struct attempt *attempt)
{
	double sum = 0, at;
	size_t row = 0, last = 0;

	for (size_t i = 0; i < attempt->points->rows; i++)
		sum += attempt->nearest[i];
	at = pick(attempt) * sum;
	for (; row < attempt->points->rows; row++) {
		if (attempt->nearest[row] <= 0)
			continue;
		last = row;
		at -= attempt->nearest[row];
		if (at < 0)
			break;
	}
	return last;
}

static void put_centres(struct attempt *attempt)
{
	put_centre(attempt, 0, pick(attempt) * attempt->points->rows);
	for (unsigned int group = 1; group < attempt->group_count; group++)
		put_centre(attempt, group, pick_row(attempt));
}

/* --- Lloyd's rounds --------------------------------------------------------------------------- */

static bool join_nearest(struct attempt *attempt)
{
	bool has_changed = false;

	for (size_t i = 0; i < attempt->points->rows; i++) {
		uint8_t best = 0;

		attempt->nearest[i] = distance(attempt, i, 0);
		for (unsigned int group = 1; group < attempt->group_count; group++) {
			double square = distance(attempt, i, group);

			if (square < attempt->nearest[i]) {
				attempt->nearest[i] = square;
				best = group;
			}
		}
		has_changed |= attempt->result.group_of[i] != best;
		attempt->result.group_of[i] = best;
	}
	return has_changed;
}

/* An empty group stays where it is: single moves fill it. */
static void move_centres(struct attempt *attempt)
{
	size_t columns = attempt->points->columns;
	double *sums = xcalloc(attempt->group_count * columns + 1, sizeof(*sums));

	memset(attempt->sizes, 0, sizeof(attempt->sizes));
	for (size_t i = 0; i < attempt->points->rows; i++) {
		unsigned int group = attempt->result.group_of[i];

		attempt->sizes[group]++;
		for (size_t c = 0; c < columns; c++)
			sums[group * columns + c] += row_of(attempt, i)[c];
	}
	for (unsigned int group = 0; group < attempt->group_count; group++)
		for (size_t c = 0; c < columns && attempt->sizes[group]; c++)
			centre_of(attempt, group)[c] = sums[group * columns + c] / attempt->sizes[group];
	free(sums);
}

/* --- Single moves ----------------------------------------------------------------------------- */

static void shift_centre(struct attempt *attempt, unsigned int group, size_t row, int sign)
{
	double *centre = centre_of(attempt, group);

	attempt->sizes[group] += sign;
	for (size_t c = 0; c < attempt->points->columns; c++)
		centre[c] += sign * (row_of(attempt, row)[c] - centre[c]) / attempt->sizes[group];
}

/* A move pays when the other group's squares grow by less than what this one loses. */
static bool move_one(struct attempt *attempt, size_t row)
{
	const double margin = 1 - 1e-12;
	unsigned int from = attempt->result.group_of[row], best = from;
	size_t size = attempt->sizes[from];
	double least;

	if (size < 2)
		return false;
	least = distance(attempt, row, from) * size / (size - 1) * margin;
	for (unsigned int to = 0; to < attempt->group_count; to++) {
		size_t others = attempt->sizes[to];
		double grows = to == from ? INFINITY : distance(attempt, row, to) * others / (others + 1);

		if (grows < least) {
			least = grows;
			best = to;
		}
	}
	if (best == from)
		return false;
	shift_centre(attempt, from, row, -1);
	shift_centre(attempt, best, row, 1);
	attempt->result.group_of[row] = best;
	return true;
}

static void improve(struct attempt *attempt)
{
	bool has_moved = true;

	for (int round = 0; round < ROUNDS_MAX && has_moved; round++) {
		has_moved = false;
		for (size_t i = 0; i < attempt->points->rows; i++)
			has_moved |= move_one(attempt, i);
	}
	move_centres(attempt);
}

static void try_once(struct attempt *attempt)
{
	memset(attempt->result.group_of, 0, attempt->points->rows);
	put_centres(attempt);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		if (!join_nearest(attempt) && round)
			break;
		move_centres(attempt);
	}
	improve(attempt);
	attempt->result.squares = 0;
	for (size_t i = 0; i < attempt->points->rows; i++)
		attempt->result.squares += distance(attempt, i, attempt->result.group_of[i]);
}

/* --- What others call ------------------------------------------------------------------------- */

static struct kmeans new_result(const struct points *points, unsigned int group_count)
{
	return (struct kmeans){
		.centres = xcalloc(group_count * points->columns + 1, sizeof(double)),
		.group_of = xcalloc(points->rows + 1, 1),
		.squares = INFINITY,
	};
}

void kmeans(const struct points *points, unsigned int group_count, struct kmeans *out)
{
	struct attempt attempt = { .points = points, .group_count = group_count };

	assert(group_count && group_count <= KMEANS_GROUPS_MAX);
	*out = new_result(points, group_count);
	attempt.result = new_result(points, group_count);
	attempt.nearest = xcalloc(points->rows + 1, sizeof(double));
	for (int i = 0; i < RESTARTS && points->rows; i++) {
		try_once(&attempt);
		if (attempt.result.squares < out->squares) {
			struct kmeans worse = *out;

			*out = attempt.result;
			attempt.result = worse;
		}
	}
	free(attempt.nearest);
	kmeans_fini(&attempt.result);
}

void kmeans_fini(struct kmeans *kmeans)
{
	free(kmeans->centres);
	free(kmeans->group_of);
	*kmeans = (struct kmeans){ 0 };
}

static double silhouette_of(const struct points *points, const uint8_t *group_of, unsigned int group_count, size_t row,
			    size_t step)
{
	double sums[KMEANS_GROUPS_MAX] = { 0 }, within, nearest = INFINITY;
	size_t counts[KMEANS_GROUPS_MAX] = { 0 };
	unsigned int own = group_of[row];

	for (size_t i = 0; i < points->rows; i += step) {
		counts[group_of[i]]++;
		sums[group_of[i]] += sqrt(points_distance_squared(
			points->values + row * points->columns, points->values + i * points->columns, points->columns));
	}
	if (counts[own] < 2)
		return 0;
	within = sums[own] / (counts[own] - 1);
	for (unsigned int group = 0; group < group_count; group++)
		if (group != own && counts[group])
			nearest = fmin(nearest, sums[group] / counts[group]);
	if (isinf(nearest) || fmax(within, nearest) <= 0)
		return 0;
	return (nearest - within) / fmax(within, nearest);
}

double silhouette(const struct points *points, const uint8_t *group_of, unsigned int group_count)
{
	size_t step = 1 + points->rows / SILHOUETTE_ROWS_MAX, count = 0;
	double sum = 0;

	for (size_t i = 0; i < points->rows; i += step, count++)
		sum += silhouette_of(points, group_of, group_count, i, step);
	return count ? sum / count : 0;
}
