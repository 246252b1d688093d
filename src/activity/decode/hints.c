/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/decode/hints.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity/activity_sums.h"
#include "activity/decode/pairs.h"
#include "activity/event_context.h"
#include "activity/named_event.h"
#include "base/memory.h"
#include "base/table.h"
#include "klocks/lengths.h"
#include "session/hosts.h"
#include "session/threads.h"

/* What is bounded. */
enum { KINDS_MAX = 4096, ORDERS_MAX = 1 << 16, THREADS_MAX = 1 << 16 };

/* How much must be otherwise, and how far away that must be. */
enum {
	ENDED_MIN = 100,         /* pairs for each beginning without an end */
	ORDER_MIN = 2000,        /* times that something else followed */
	ORDER_EXPECTED_MIN = 50, /* so often the two would follow each other if events came in any order */
	ORDER_COUNT_MAX = 2,
	GAPS_MIN = 1000, /* events of a kind */
	GAP_TIMES = 100,
	WINDOWS_MIN = 100, /* that have events of the kind */
	BURST_TIMES = 10,
	BURST_MIN = 100,
	WINDOW_STEPS = 32, /* powers of two */
	ALIKE_MAX = 3,     /* silences or bursts of nearly that size: more are how the program works */
};

static const uint64_t window_ns = 10000000, gap_ns_min = 10000000;

/* Of one kind of events, all threads together. */
struct event_kind_stats {
	char name[64];
	uint64_t count, last_ns;
	uint32_t gaps[LENGTHS]; /* from one to the next */
	uint64_t longest_ns, longest_at_ns;
	uint32_t longest_thread;
	uint64_t window, in_window;     /* the one that goes on */
	uint64_t windows[WINDOW_STEPS]; /* those that are over, by the power of two of how many events they had */
	uint64_t window_count, most, most_at_ns;
};

/* One kind after another one, in one thread. */
struct order {
	struct event_kind_stats *before, *after;
	uint64_t count, at_ns;
	uint32_t thread;
};

struct hints {
	struct table *kinds;   /* struct event_kind_stats, by the address of the description */
	struct table *orders;  /* struct order, by both */
	struct table *threads; /* the last kind, by thread + 1 */
	uint64_t count;        /* events */
};

struct hints *hints_new(void)
{
	struct hints *hints = xcalloc(1, sizeof(*hints));

	hints->kinds = table_new();
	hints->orders = table_new();
	hints->threads = table_new();
	return hints;
}

void hints_free(struct hints *hints)
{
	void *value;
	size_t cursor = 0;

	if (!hints)
		return;
	while ((value = table_next(hints->kinds, &cursor)))
		free(value);
	cursor = 0;
	while ((value = table_next(hints->orders, &cursor)))
		free(value);
	table_free(hints->kinds);
	table_free(hints->orders);
	table_free(hints->threads);
	free(hints);
}

/* --- Events ---------------------------------------------------------------------------------- */

static struct event_kind_stats *stats_of(struct hints *hints, const struct named_event *event)
{
	struct event_kind_stats *stats = table_find(hints->kinds, (uintptr_t)event->kind);

	if (stats || table_count(hints->kinds) == KINDS_MAX)
		return stats;
	stats = xcalloc(1, sizeof(*stats));
	snprintf(stats->name, sizeof(stats->name), "%.30s.%.30s", event->subsystem, event->event);
	table_put(hints->kinds, (uintptr_t)event->kind, stats);
	return stats;
}

static unsigned int step_of(uint64_t count)
{
	unsigned int step = 63 - __builtin_clzll(count | 1);

	return step < WINDOW_STEPS ? step : WINDOW_STEPS - 1;
}

static void end_window(struct event_kind_stats *stats)
{
	if (!stats->in_window)
		return;
	stats->windows[step_of(stats->in_window)]++;
	stats->window_count++;
	if (stats->in_window > stats->most) {
		stats->most = stats->in_window;
		stats->most_at_ns = stats->window * window_ns;
	}
	stats->in_window = 0;
}

static void count_event(struct event_kind_stats *stats, const struct named_event *event)
{
	uint64_t gap_ns = event->time_ns > stats->last_ns ? event->time_ns - stats->last_ns : 0;
	uint64_t window = event->time_ns / window_ns;

	if (stats->count++) {
		uint32_t *gaps = &stats->gaps[length_index(gap_ns)];

		*gaps += *gaps < UINT32_MAX;
		if (gap_ns > stats->longest_ns) {
			stats->longest_ns = gap_ns;
			stats->longest_at_ns = stats->last_ns;
			stats->longest_thread = event->thread;
		}
	}
	if (window != stats->window)
		end_window(stats);
	stats->window = window;
	stats->in_window++;
	stats->last_ns = event->time_ns;
}

static void count_order(struct hints *hints, struct event_kind_stats *before, struct event_kind_stats *after,
			const struct named_event *event)
{
	uint64_t key = hash_u64((uintptr_t)before ^ hash_u64((uintptr_t)after));
	struct order *order = table_find(hints->orders, key);

	if (!order) {
		if (table_count(hints->orders) == ORDERS_MAX)
			return;
		order = xcalloc(1, sizeof(*order));
		*order = (struct order){ before, after, 0, event->time_ns, event->thread };
		table_put(hints->orders, key, order);
	}
	order->count++;
}

void hints_on_event(struct hints *hints, const struct named_event *event)
{
	struct event_kind_stats *stats = stats_of(hints, event), *before;

	if (!stats)
		return;
	hints->count++;
	count_event(stats, event);
	before = table_find(hints->threads, event->thread + 1ull);
	if (before)
		count_order(hints, before, stats, event);
	if (before || table_count(hints->threads) < THREADS_MAX)
		table_put(hints->threads, event->thread + 1ull, stats);
}

/* --- What is unusual ------------------------------------------------------------------------- */

struct finding_hints {
	const struct hints *hints;
	const struct event_context *context;
	struct hint best[HINT_KINDS][HINTS_OF_KIND_MAX];
	size_t counts[HINT_KINDS];
};

/* The surest first; else by name and time, so that the order of tables does not matter. */
static bool is_before(const struct hint *a, const struct hint *b)
{
	int order = strcmp(a->name, b->name);

	if (a->others != b->others)
		return a->others > b->others;
	return order ? order < 0 : a->at_ns < b->at_ns;
}

static void add(struct finding_hints *finding, struct hint hint, uint32_t thread)
{
	const struct thread *who = event_context_thread(finding->context, thread);
	struct hint *best = finding->best[hint.kind];
	size_t *count = &finding->counts[hint.kind], place = *count;

	if (who) {
		hint.tid = id_on_host(who->tid);
		memcpy(hint.thread_name, who->name, sizeof(hint.thread_name) - 1);
	}
	while (place && is_before(&hint, &best[place - 1]))
		place--;
	if (place == HINTS_OF_KIND_MAX)
		return;
	*count += *count < HINTS_OF_KIND_MAX;
	memmove(&best[place + 1], &best[place], (*count - place - 1) * sizeof(*best));
	best[place] = hint;
}

static void add_unended(void *data, const struct unended *unended)
{
	struct hint hint = {
		.kind = HINT_UNENDED, .count = unended->count, .others = unended->ended, .at_ns = unended->first_ns
	};

	if (unended->ended / ENDED_MIN < unended->count)
		return;
	snprintf(hint.name, sizeof(hint.name), "%s", unended->name);
	add(data, hint, unended->thread);
}

static bool is_rare(const struct order *order, uint64_t all)
{
	double expected = (double)order->before->count * order->after->count / all;

	return order->count <= ORDER_COUNT_MAX && order->before->count >= ORDER_MIN && expected >= ORDER_EXPECTED_MIN;
}

static void add_orders(struct finding_hints *finding)
{
	const struct order *order;
	size_t cursor = 0;

	while ((order = table_next(finding->hints->orders, &cursor))) {
		struct hint hint = { .kind = HINT_ORDER, .count = order->count, .at_ns = order->at_ns };

		if (!is_rare(order, finding->hints->count))
			continue;
		hint.others = order->before->count - order->count;
		snprintf(hint.name, sizeof(hint.name), "%s, then %s", order->before->name, order->after->name);
		add(finding, hint, order->thread);
	}
}

/* How many gaps are as long as a tenth of the longest one, or nearly. */
static uint64_t count_silences(const struct event_kind_stats *stats)
{
	uint64_t count = 0;

	for (unsigned int i = length_index(stats->longest_ns / 10); i < LENGTHS; i++)
		count += stats->gaps[i];
	return count;
}

static bool is_silent(const struct event_kind_stats *stats, uint64_t usual_ns)
{
	return stats->count >= GAPS_MIN && stats->longest_ns >= gap_ns_min &&
	       stats->longest_ns / GAP_TIMES >= usual_ns && count_silences(stats) <= ALIKE_MAX;
}

/* One silence of many kinds of events is said once, of the kind that has most events. */
static bool is_said(const struct finding_hints *finding, const struct event_kind_stats *stats)
{
	for (size_t i = 0; i < finding->counts[HINT_SILENCE]; i++) {
		const struct hint *hint = &finding->best[HINT_SILENCE][i];

		if (stats->longest_at_ns < hint->at_ns + hint->ns &&
		    hint->at_ns < stats->longest_at_ns + stats->longest_ns)
			return true;
	}
	return false;
}

static void add_silence(struct finding_hints *finding, const struct event_kind_stats *stats)
{
	uint64_t usual_ns = lengths_quantile_ns(stats->gaps, stats->count - 1, stats->longest_ns, 0.99);
	struct hint hint = { .kind = HINT_SILENCE,
			     .count = 1,
			     .ns = stats->longest_ns,
			     .usual_ns = usual_ns,
			     .at_ns = stats->longest_at_ns };

	if (!is_silent(stats, usual_ns) || is_said(finding, stats))
		return;
	hint.others = stats->count - 2;
	memcpy(hint.name, stats->name, sizeof(stats->name));
	add(finding, hint, stats->longest_thread);
}

/* How many events 99 % of the stretches of time have at most, to a power of two. */
static uint64_t usual_in_window(const struct event_kind_stats *stats)
{
	uint64_t left = stats->window_count / 100;
	unsigned int step = WINDOW_STEPS - 1;

	while (step && stats->windows[step] <= left)
		left -= stats->windows[step--];
	return 2ull << step;
}

/* How many stretches of time have half as many events as the most, or nearly. */
static uint64_t count_bursts(const struct event_kind_stats *stats)
{
	uint64_t count = 0;

	for (unsigned int step = step_of(stats->most / 2); step < WINDOW_STEPS; step++)
		count += stats->windows[step];
	return count;
}

static void add_burst(struct finding_hints *finding, const struct event_kind_stats *stats)
{
	struct hint hint = { .kind = HINT_BURST, .count = stats->most, .ns = window_ns, .at_ns = stats->most_at_ns };

	if (stats->window_count < WINDOWS_MIN || stats->most < BURST_MIN ||
	    stats->most / BURST_TIMES < usual_in_window(stats) || count_bursts(stats) > ALIKE_MAX)
		return;
	hint.others = stats->count - stats->most;
	memcpy(hint.name, stats->name, sizeof(stats->name));
	add(finding, hint, 0);
}

static int by_count(const void *a, const void *b)
{
	const struct event_kind_stats *x = *(struct event_kind_stats *const *)a,
				      *y = *(struct event_kind_stats *const *)b;

	return x->count != y->count ? (x->count < y->count) - (x->count > y->count) : strcmp(x->name, y->name);
}

static void add_stretches(struct finding_hints *finding)
{
	size_t count = table_count(finding->hints->kinds), at = 0, cursor = 0;
	struct event_kind_stats **list = xcalloc(count + 1, sizeof(*list)), *stats;

	while ((stats = table_next(finding->hints->kinds, &cursor)))
		list[at++] = stats;
	qsort(list, count, sizeof(*list), by_count);
	for (size_t i = 0; i < count; i++) {
		end_window(list[i]);
		add_silence(finding, list[i]);
		add_burst(finding, list[i]);
	}
	free(list);
}

size_t hints_find(const struct hints *hints, const struct pairs *pairs, const struct event_context *context,
		  struct hint *out)
{
	struct finding_hints finding = { .hints = hints, .context = context };
	size_t count = 0;

	pairs_each_unended(pairs, add_unended, &finding);
	add_orders(&finding);
	add_stretches(&finding);
	for (size_t kind = 0; kind < HINT_KINDS; kind++)
		for (size_t i = 0; i < finding.counts[kind]; i++)
			out[count++] = finding.best[kind][i];
	return count;
}
