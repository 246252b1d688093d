/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/groups.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "compare/kmeans.h"

enum {
	ROWS_MAX = 10000, /* that centres are found by */
	OUTLIER_ROUNDS = 8,
	OUTLIERS_ONE_IN = 20, /* one, and more than that are no outliers */
	OUTLIERS_MIN = 8,     /* of so few all count */
};

/* Executions by what they are like: so their order plays no part. */
struct grouping {
	const double *values; /* [count][FIGURES] */
	size_t count;
	const struct groups_options *options;
	size_t *order;
	unsigned int columns; /* figures that are not the same in all */
	double *points;       /* [count][columns], normalised, in that order */
	uint8_t *group_of;    /* in that order */
	size_t outliers_max;
	struct groups *out;
};

static const double *values_of(const struct grouping *g, size_t place)
{
	return g->values + g->order[place] * FIGURES;
}

static int by_values(const void *a, const void *b, void *data)
{
	const double *values = data;
	const double *x = values + *(const size_t *)a * FIGURES;
	const double *y = values + *(const size_t *)b * FIGURES;

	for (unsigned int i = 0; i < FIGURES; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static void sort(struct grouping *g)
{
	for (size_t i = 0; i < g->count; i++)
		g->order[i] = i;
	if (g->count)
		qsort_r(g->order, g->count, sizeof(*g->order), by_values, (void *)g->values);
}

/* --- What is compared ------------------------------------------------------------------------- */

/* How much of a time lies behind what is counted; what has no time of its own weighs little. */
static double time_behind(const double *values, unsigned int figure)
{
	const double little = 0.1, *lost = values + FIGURE_SHARES + SHARE_BLOCKED;

	switch (figure) {
	case FIGURE_CALLS:
	case FIGURE_CALL_BYTES:
		return lost[CAUSE_FILE] + lost[CAUSE_SOCKET] + lost[CAUSE_PIPE];
	case FIGURE_BLOCKS:
	case FIGURE_BLOCK_BYTES:
		return lost[CAUSE_FILE] + lost[CAUSE_PAGE_FAULT];
	case FIGURE_TRANSFERS:
	case FIGURE_READ_BYTES:
	case FIGURE_WRITTEN_BYTES:
	case FIGURE_FAULTS:
	case FIGURE_WAKES:
	case FIGURE_INTERRUPTS:
	case FIGURE_SOFTIRQS:
		return little * values[FIGURE_SHARES + SHARE_RUNNING];
	}
	return lost[figure - FIGURE_WAITS];
}

/* Counts weigh as much as the share of that time in all that executions took. */
static double weight_of(const struct grouping *g, unsigned int figure)
{
	double all_ns = 0, behind_ns = 0;

	if (figure_is_time(figure) || g->options->by_figure)
		return 1;
	for (size_t i = 0; i < g->count; i++) {
		all_ns += values_of(g, i)[FIGURE_DURATION];
		behind_ns += time_behind(values_of(g, i), figure);
	}
	return all_ns > 0 ? fmin(1, behind_ns / all_ns) : 0;
}

static bool differs(const struct grouping *g, unsigned int figure)
{
	for (size_t i = 1; i < g->count; i++)
		if (values_of(g, i)[figure] != values_of(g, 0)[figure])
			return true;
	return false;
}

static double unit_of(unsigned int figure, double unit_ns)
{
	const double page_bytes = 4096;

	if (figure_is_time(figure))
		return unit_ns;
	return figure_is_bytes(figure) ? page_bytes : 1;
}

/* What takes twice as long is as far away, be it long or short, as long as it is no trifle. */
static void normalise(struct grouping *g)
{
	const double trifle = 0.1;
	double unit_ns = fmax(1, trifle * values_of(g, g->count / 2)[FIGURE_DURATION]);
	unsigned int figures[FIGURES] = { 0 };

	for (unsigned int figure = 0; figure < FIGURES; figure++)
		if ((!g->options->by_figure || g->options->by_figure[figure]) && differs(g, figure))
			figures[g->columns++] = figure;
	g->points = xcalloc(g->count * g->columns + 1, sizeof(*g->points));
	for (unsigned int c = 0; c < g->columns; c++) {
		double weight = weight_of(g, figures[c]);
		double unit = unit_of(figures[c], unit_ns);

		for (size_t i = 0; i < g->count; i++)
			g->points[i * g->columns + c] = weight * log1p(values_of(g, i)[figures[c]] / unit);
	}
}

static const double *point_of(const struct grouping *g, size_t place)
{
	return g->points + place * g->columns;
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* Those that are no outliers, or as many of them as centres are found by, side by side. */
static struct points gather(const struct grouping *g)
{
	size_t inside = g->count - g->out->outlier_count, step = 1 + inside / ROWS_MAX, at = 0;
	double *values = xcalloc((inside / step + 1) * g->columns + 1, sizeof(double));
	struct points points = { values, 0, g->columns };

	for (size_t i = 0; i < g->count; i++)
		if (g->group_of[i] != GROUP_OUTLIER && at++ % step == 0)
			memcpy(values + points.rows++ * g->columns, point_of(g, i), g->columns * sizeof(double));
	return points;
}

/* In their order the same are beside each other. */
static size_t count_different(const struct points *points, size_t enough)
{
	size_t count = points->rows > 0;

	for (size_t i = 1; i < points->rows && count < enough; i++)
		count += !!memcmp(points->values + i * points->columns, points->values + (i - 1) * points->columns,
				  points->columns * sizeof(double));
	return count;
}

/* The number of groups that fits best, and how well. */
static void choose(const struct points *points, unsigned int wanted, struct kmeans *best, struct groups *out)
{
	size_t different = count_different(points, GROUPS_MAX + 1);
	unsigned int first = wanted ? wanted : GROUPS_MIN, last = wanted ? wanted : GROUPS_MAX;

	if (first > different)
		first = different;
	/* As many groups as points fit, and say nothing. */
	if (last >= different)
		last = wanted || different <= GROUPS_MIN ? different : different - 1;
	out->count = 0;
	for (unsigned int count = first; count <= last; count++) {
		struct kmeans result;
		double fit;

		kmeans(points, count, &result);
		fit = count > 1 ? silhouette(points, result.group_of, count) : 0;
		if (!out->count || fit > out->silhouette) {
			if (out->count)
				kmeans_fini(best);
			*best = result;
			out->count = count;
			out->silhouette = fit;
		} else {
			kmeans_fini(&result);
		}
	}
}

static unsigned int nearest_of(const struct grouping *g, const struct kmeans *centres, size_t place)
{
	unsigned int best = 0;
	double least = INFINITY;

	for (unsigned int group = 0; group < g->out->count; group++) {
		double square =
			points_distance_squared(point_of(g, place), centres->centres + group * g->columns, g->columns);

		if (square < least) {
			least = square;
			best = group;
		}
	}
	return best;
}

static void join_all(struct grouping *g, const struct kmeans *centres)
{
	memset(g->out->sizes, 0, sizeof(g->out->sizes));
	for (size_t i = 0; i < g->count; i++) {
		if (g->group_of[i] == GROUP_OUTLIER)
			continue;
		g->group_of[i] = nearest_of(g, centres, i);
		g->out->sizes[g->group_of[i]]++;
	}
}

/* --- Outliers --------------------------------------------------------------------------------- */

static double duration_of(const struct grouping *g, size_t place)
{
	return values_of(g, place)[FIGURE_DURATION];
}

static int by_number(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Tukey's outer fence. */
static double fence_of(const double *values, size_t count)
{
	double *sorted = xcalloc(count, sizeof(*sorted)), low, high;

	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_number);
	low = sorted[count / 4];
	high = sorted[count - 1 - count / 4];
	free(sorted);
	return high + 3 * (high - low);
}

/*
 * Who took longer than this is never like no other, for why he did is what is asked: longer than all in groups who are
 * not strange, or beyond the fence of all durations.
 */
static double slow_from_ns(const struct grouping *g, const bool *is_strange)
{
	double *durations = xcalloc(g->count + 1, sizeof(*durations)), longest_ns = 0, fence_ns;

	for (size_t i = 0; i < g->count; i++) {
		durations[i] = duration_of(g, i);
		if (g->group_of[i] != GROUP_OUTLIER && !is_strange[i])
			longest_ns = fmax(longest_ns, durations[i]);
	}
	fence_ns = g->count ? fence_of(durations, g->count) : 0;
	free(durations);
	return fmin(longest_ns, fence_ns);
}

/* Those are like no others, unless they are slow. Returns whether one has left. */
static bool leave(struct grouping *g, const bool *is_strange)
{
	double slow_ns = slow_from_ns(g, is_strange);
	bool has_left = false;

	for (size_t i = 0; i < g->count && g->out->outlier_count < g->outliers_max; i++) {
		if (!is_strange[i] || duration_of(g, i) > slow_ns)
			continue;
		g->out->sizes[g->group_of[i]]--;
		g->group_of[i] = GROUP_OUTLIER;
		g->out->outlier_count++;
		has_left = true;
	}
	return has_left;
}

/* Who is alone in his group. */
static bool drop_lonely(struct grouping *g)
{
	bool *is_lonely = xcalloc(g->count + 1, sizeof(*is_lonely)), has_left;

	for (size_t i = 0; i < g->count; i++)
		is_lonely[i] = g->group_of[i] != GROUP_OUTLIER && g->out->sizes[g->group_of[i]] == 1;
	has_left = leave(g, is_lonely);
	free(is_lonely);
	return has_left;
}

/* Half the way between the two centres that are nearest to each other. */
static double nearest_border(const struct grouping *g, const struct kmeans *centres)
{
	double least = INFINITY;

	for (unsigned int a = 0; a < g->out->count; a++)
		for (unsigned int b = 0; b < a; b++)
			least = fmin(least, points_distance_squared(centres->centres + a * g->columns,
								    centres->centres + b * g->columns, g->columns));
	return isinf(least) ? 0 : sqrt(least) / 2;
}

/*
 * Who is far from all centres: beyond that fence, further than others are from where the next group begins,
 * and something of it is not even the double or half.
 */
static void drop_far(struct grouping *g, const struct kmeans *centres)
{
	size_t count = 0, *places = xcalloc(g->count + 1, sizeof(*places));
	double *distances = xcalloc(g->count + 1, sizeof(*distances)), fence;
	bool *is_far = xcalloc(g->count + 1, sizeof(*is_far));

	for (size_t i = 0; i < g->count; i++) {
		const double *centre;

		if (g->group_of[i] == GROUP_OUTLIER)
			continue;
		centre = centres->centres + g->group_of[i] * g->columns;
		places[count] = i;
		distances[count++] = sqrt(points_distance_squared(point_of(g, i), centre, g->columns));
	}
	fence = fmax(count ? fence_of(distances, count) : 0, fmax(nearest_border(g, centres), M_LN2));
	for (size_t i = 0; i < count; i++)
		is_far[places[i]] = distances[i] > fence && g->out->sizes[g->group_of[places[i]]] > 1;
	leave(g, is_far);
	free(is_far);
	free(distances);
	free(places);
}

/* --- Names ------------------------------------------------------------------------------------ */

struct rank {
	double mean_ns;
	unsigned int group;
};

static int by_mean(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->mean_ns != y->mean_ns)
		return x->mean_ns < y->mean_ns ? -1 : 1;
	return x->group < y->group ? -1 : 1;
}

static void number_by_duration(struct grouping *g)
{
	struct rank ranks[GROUPS_MAX] = { { 0 } };
	size_t sizes[GROUPS_MAX];
	uint8_t numbers[GROUPS_MAX];
	unsigned int count = g->out->count;

	memcpy(sizes, g->out->sizes, sizeof(sizes));
	for (size_t i = 0; i < g->count; i++)
		if (g->group_of[i] != GROUP_OUTLIER)
			ranks[g->group_of[i]].mean_ns += values_of(g, i)[FIGURE_DURATION] / sizes[g->group_of[i]];
	for (unsigned int i = 0; i < count; i++) {
		ranks[i].group = i;
		if (!sizes[i])
			ranks[i].mean_ns = INFINITY;
	}
	qsort(ranks, count, sizeof(*ranks), by_mean);
	for (unsigned int i = 0; i < count; i++) {
		numbers[ranks[i].group] = i;
		g->out->sizes[i] = sizes[ranks[i].group];
	}
	for (size_t i = 0; i < g->count; i++)
		g->out->of[g->order[i]] = g->group_of[i] == GROUP_OUTLIER ? GROUP_OUTLIER : numbers[g->group_of[i]];
}

static void group_all(struct grouping *g)
{
	struct kmeans centres = { 0 };
	bool has_left = true;

	for (int round = 0; round < OUTLIER_ROUNDS && has_left; round++) {
		struct points points = gather(g);

		kmeans_fini(&centres);
		choose(&points, g->options->wanted, &centres, g->out);
		join_all(g, &centres);
		free((double *)points.values);
		has_left = drop_lonely(g);
	}
	drop_far(g, &centres);
	kmeans_fini(&centres);
}

static void forget_empty(struct groups *groups)
{
	while (groups->count > 1 && !groups->sizes[groups->count - 1])
		groups->count--;
}

void groups_make(const double *values, size_t count, const struct groups_options *options, struct groups *out)
{
	struct grouping g = {
		.values = values,
		.count = count,
		.options = options,
		.out = out,
		.order = xcalloc(count + 1, sizeof(*g.order)),
		.group_of = xcalloc(count + 1, 1),
		.outliers_max = count < OUTLIERS_MIN ? 0 : 1 + count / OUTLIERS_ONE_IN,
	};

	*out = (struct groups){ .count = 1, .of = xcalloc(count + 1, 1), .sizes = { count } };
	if (count >= GROUPED_MIN) {
		sort(&g);
		normalise(&g);
		group_all(&g);
		number_by_duration(&g);
		forget_empty(out);
	}
	free(g.order);
	free(g.points);
	free(g.group_of);
}

void groups_fini(struct groups *groups)
{
	free(groups->of);
	*groups = (struct groups){ 0 };
}
