/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/history.h"

#include <stdlib.h>

#include "base/bound.h"
#include "base/memory.h"
#include "base/whole.h"

void history_fini(struct history *history)
{
	free(history->points);
	*history = (struct history){ 0 };
}

/* Of those before the last ones only such stay as are at least their age / parts apart. */
static size_t thin_out(struct history_point *points, size_t count, uint64_t parts)
{
	size_t old_count = count - HISTORY_EXACT, kept = 1;
	uint64_t now_ns = points[count - 1].time_ns;

	for (size_t i = 1; i < count; i++) {
		uint64_t age_ns = now_ns - points[i].time_ns;

		if (i < old_count && points[i].time_ns - points[kept - 1].time_ns < age_ns / parts) {
			points[kept - 1].is_thinned = true;
			continue;
		}
		points[kept++] = points[i];
	}
	return kept;
}

void history_add(struct history *history, const struct history_point *point)
{
	size_t count = history->count;

	/* Room doubles: most threads of a program with thousands of them change seldom. */
	if (count < HISTORY_CAPACITY && !(count & (count - 1)))
		history->points = xrealloc(history->points, count ? 2 * count : 1, sizeof(*history->points));
	for (uint64_t parts = 4; history->count == HISTORY_CAPACITY && parts; parts /= 2)
		history->count = thin_out(history->points, count, parts);
	if (history->count == HISTORY_CAPACITY) /* all at one moment */
		history->count--;
	history->points[history->count++] = *point;
}

static struct history_sum between(const struct history_point *point, const struct history_point *next, uint64_t time_ns)
{
	double part = (double)(time_ns - point->time_ns) / (next->time_ns - point->time_ns);

	return (struct history_sum){
		.cmetric_ns = whole(point->cmetric_ns + part * (next->cmetric_ns - point->cmetric_ns)),
		.busy_ns = whole(point->busy_ns + part * (next->busy_ns - point->busy_ns)),
	};
}

/* The last point that is not later; the first one must not be. */
static const struct history_point *point_at(const struct history *history, uint64_t time_ns)
{
	return &history->points[BOUND_BACK(1, history->count, i, history->points[i].time_ns <= time_ns) - 1];
}

struct history_sum history_at(const struct history *history, uint64_t time_ns, uint64_t share_ns)
{
	const struct history_point *point, *next;
	struct history_sum sum = { 0 };

	if (!history->count || time_ns < history->points[0].time_ns)
		return sum;
	point = point_at(history, time_ns);
	next = point + 1 < history->points + history->count ? point + 1 : NULL;
	if (next && point->is_thinned)
		return between(point, next, time_ns);
	sum.cmetric_ns = point->cmetric_ns;
	sum.busy_ns = point->busy_ns;
	if (point->is_active) {
		if (!point->is_spinning)
			sum.cmetric_ns += share_ns - point->share_ns;
		sum.busy_ns += time_ns - point->time_ns;
	}
	/* The share that is asked for may be rounded otherwise. */
	if (next && sum.cmetric_ns > next->cmetric_ns)
		sum.cmetric_ns = next->cmetric_ns;
	return sum;
}
