/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/trace/spans_view.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "spans/execution_log.h"
#include "spans/features.h"
#include "waits/wait_cause.h"

enum {
	PARTS_MAX = 3,
	SLOW_COUNT_MIN = 20, /* of fewer executions, a tenth tells nothing */
	SLOW_SHARE = 10,
};

const char *span_share_name(unsigned int share)
{
	static const char *const names[SHARE_BLOCKED] = {
		"unknown",
		"running",
		"spinning",
		"waiting for a CPU",
	};

	return share < SHARE_BLOCKED ? names[share] : wait_cause_name(share - SHARE_BLOCKED);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t *span_durations(const struct spans_view *view, uint32_t span, size_t *count)
{
	uint64_t *durations = xcalloc(view->count + 1, sizeof(*durations));

	*count = 0;
	for (size_t i = 0; i < view->count; i++)
		if (view->rows[i].execution->span == span)
			durations[(*count)++] = view->rows[i].features->duration_ns;
	qsort(durations, *count, sizeof(*durations), by_number);
	return durations;
}

uint64_t span_quantile_ns(const uint64_t *sorted_ns, size_t count, unsigned int per_mille)
{
	size_t rank = (count * per_mille + 999) / 1000;

	return count ? sorted_ns[rank ? rank - 1 : 0] : 0;
}

/* --- What is slow ----------------------------------------------------------------------------- */

/* Means over some executions, as differences of sums. */
struct means {
	double duration_ns, ns[SHARES];
	size_t count;
};

static void means_add(struct means *means, const struct features *features)
{
	means->count++;
	means->duration_ns += features->duration_ns;
	for (unsigned int share = 0; share < SHARES; share++)
		means->ns[share] += features->ns[share];
}

static double mean_more(double slow, size_t slow_count, double other, size_t other_count)
{
	return slow / slow_count - other / other_count;
}

static void put_more(struct text *out, const struct means *slow, const struct means *other)
{
	double more_ns[SHARES];
	double all_ns = mean_more(slow->duration_ns, slow->count, other->duration_ns, other->count);

	for (unsigned int share = 0; share < SHARES; share++)
		more_ns[share] = mean_more(slow->ns[share], slow->count, other->ns[share], other->count);
	text_put(out, "  The slowest 10 % take ");
	text_put_duration(out, all_ns);
	text_put(out, " longer on average than the others");
	for (unsigned int part = 0; part < PARTS_MAX; part++) {
		unsigned int most = 0;

		for (unsigned int share = 0; share < SHARES; share++)
			if (more_ns[share] > more_ns[most])
				most = share;
		if (more_ns[most] < all_ns / 20)
			break;
		text_put(out, part ? ", " : ": ");
		text_put_duration(out, more_ns[most]);
		text_printf(out, "%s %s", part ? "" : " of that", span_share_name(most));
		more_ns[most] = 0;
	}
	text_put(out, ".\n");
}

/* What the slowest ones do more than the others. */
static void put_slow(struct text *out, const struct spans_view *view, uint32_t span, const uint64_t *durations,
		     size_t count)
{
	struct means slow = { 0 }, other = { 0 };
	uint64_t limit_ns;

	if (count < SLOW_COUNT_MIN)
		return;
	limit_ns = durations[count - count / SLOW_SHARE];
	for (size_t i = 0; i < view->count; i++)
		if (view->rows[i].execution->span == span)
			means_add(view->rows[i].features->duration_ns >= limit_ns ? &slow : &other,
				  view->rows[i].features);
	if (slow.count && other.count)
		put_more(out, &slow, &other);
}

/* --- One span --------------------------------------------------------------------------------- */

static void put_left_out(struct text *out, uint64_t count, const char *one, const char *several)
{
	if (!count)
		return;
	text_put(out, "  ");
	text_put_count(out, count);
	text_printf(out, " %s\n", count == 1 ? one : several);
}

static void put_others(struct text *out, const struct span *span)
{
	put_left_out(out, span->ends_alone, "end without a beginning: it was before the trace, or is lost",
		     "ends without a beginning: it was before the trace, or is lost");
	put_left_out(out, span->begun_anew, "was started again before it had ended",
		     "were started again before they had ended");
	put_left_out(out, span->left, "did not return: left by an exception, longjmp or exec",
		     "did not return: left by an exception, longjmp or exec");
	put_left_out(out, span->died, "was not ended when its thread exited",
		     "were not ended when their threads exited");
	put_left_out(out, span->unfinished, "had not ended at the end of the trace",
		     "had not ended at the end of the trace");
	put_left_out(out, span->in_gaps, "may be several, marked ~: records were lost within it",
		     "may each be several, marked ~: records were lost within them");
	put_left_out(out, span->dropped, "was left out: there are too many", "were left out: there are too many");
}

static void put_span(struct text *out, const struct spans_view *view, uint32_t number)
{
	static const struct {
		unsigned int per_mille;
		const char *words;
	} steps[] = {
		{ 500, "p50 " },
		{ 900, ", p90 " },
		{ 990, ", p99 " },
		{ 1000, ", max " },
	};
	const struct span *span = view->spans[number];
	uint64_t *durations, sum_ns = 0;
	size_t count;

	durations = span_durations(view, number, &count);
	for (size_t i = 0; i < count; i++)
		sum_ns += durations[i];
	text_put_escaped(out, span->name);
	text_put(out, ": ");
	text_put_count(out, count);
	text_put(out, count == 1 ? " execution" : " executions");
	for (size_t i = 0; count && i < sizeof(steps) / sizeof(*steps); i++) {
		text_printf(out, "%s%s", i ? "" : "; ", steps[i].words);
		text_put_duration(out, span_quantile_ns(durations, count, steps[i].per_mille));
	}
	if (count) {
		text_put(out, "; ");
		text_put_duration(out, sum_ns);
		text_put(out, " in total");
	}
	text_put(out, ".\n");
	put_slow(out, view, number, durations, count);
	put_others(out, span);
	free(durations);
}

/* --- The table -------------------------------------------------------------------------------- */

static int by_duration(const void *a, const void *b)
{
	const struct span_row *x = *(const struct span_row *const *)a;
	const struct span_row *y = *(const struct span_row *const *)b;

	if (x->features->duration_ns != y->features->duration_ns)
		return x->features->duration_ns < y->features->duration_ns ? 1 : -1;
	return (x > y) - (x < y);
}

static void put_parts(struct text *out, const struct features *features)
{
	bool is_recorded[SHARES] = { false };

	for (unsigned int part = 0; part < PARTS_MAX; part++) {
		unsigned int most = SHARES;

		for (unsigned int share = 0; share < SHARES; share++)
			if (!is_recorded[share] && features->ns[share] &&
			    (most == SHARES || features->ns[share] > features->ns[most]))
				most = share;
		if (most == SHARES || features->ns[most] < features->duration_ns / 100)
			break;
		is_recorded[most] = true;
		text_printf(out, "%s%s ", part ? ", " : "", span_share_name(most));
		text_put_duration(out, features->ns[most]);
	}
}

static void put_row(struct text *out, const struct spans_view *view, const struct span_row *row)
{
	const struct execution *execution = row->execution;
	struct graph_node whose = { .kind = GRAPH_THREAD, .id = execution->thread };
	struct graph_node began = { .kind = GRAPH_THREAD, .id = execution->begin_thread };
	struct text duration = { 0 };

	text_put_duration(&duration, row->features->duration_ns);
	text_printf(out, "%9s%s %14.6f s  ", duration.bytes, row->has_gap ? "~" : " ",
		    (int64_t)(execution->begin_ns - view->first_ns) / 1e9);
	text_fini(&duration);
	text_put_escaped(out, view->spans[execution->span]->name);
	text_printf(out, ":%u  ", row->number);
	if (execution->begin_thread != execution->thread) {
		text_put_escaped(out, graph_label(view->labels, &began));
		text_put(out, " to ");
	}
	text_put_escaped(out, graph_label(view->labels, &whose));
	text_put(out, "  ");
	put_parts(out, row->features);
	text_put(out, "\n");
}

static void put_table(struct text *out, const struct spans_view *view)
{
	const struct span_row **rows = xcalloc(view->count + 1, sizeof(*rows));
	size_t count = view->count < view->row_count_max ? view->count : view->row_count_max;

	for (size_t i = 0; i < view->count; i++)
		rows[i] = &view->rows[i];
	if (!view->is_by_begin)
		qsort(rows, view->count, sizeof(*rows), by_duration);
	if (count)
		text_put(out, "\n duration           begin  execution, thread and where most of the time went\n");
	for (size_t i = 0; i < count; i++)
		put_row(out, view, rows[i]);
	if (count < view->count) {
		text_put(out, "  and ");
		text_put_count(out, view->count - count);
		text_put(out, " more\n");
	}
	free(rows);
}

void spans_put_text(struct text *out, const struct spans_view *view)
{
	for (uint32_t span = 0; span < SPANS_MAX; span++)
		if (view->spans[span])
			put_span(out, view, span);
	put_table(out, view);
}
