// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * rows_ask TRACE [JUMPS [ROWS [SEED [ONLY]]]]			(1000 jumps, 100 rows each, seed 1)
 * Opens the list of events of a trace and jumps to random rows of it, before they are counted and after that; scrolls;
 * finds random times; then the same with filters; or only one of these. The history of states is made before, if it is
 * not there. Prints as JSON how long that took, and how much memory.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/memory.h"
#include "base/text.h"
#include "query/trace_states.h"
#include "rows/event_rows.h"
#include "states/states.h"

static struct {
	const char *path;
	struct trace_states states;
	size_t jumps, rows;
	uint64_t random;
	double *ms;
	struct text json;
} w;

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static uint64_t pick(uint64_t below)
{
	w.random = w.random * 6364136223846793005ull + 1442695040888963407ull;
	return (uint64_t)((unsigned __int128)(w.random ^ w.random >> 29) * below >> 64);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(const char *name)
{
	qsort(w.ms, w.jumps, sizeof(*w.ms), compare);
	printf(", \"%s_ms\": {\"median\": %.3f, \"p95\": %.3f, \"max\": %.3f}", name, w.ms[w.jumps / 2],
	       w.ms[w.jumps * 95 / 100], w.ms[w.jumps - 1]);
}

static void jump(struct event_rows *rows, const char *name)
{
	for (size_t i = 0; i < w.jumps; i++) {
		uint64_t row = pick(event_rows_count(rows));
		double begin = now_ms();

		w.json.length = 0;
		event_rows_put_json(rows, row, w.rows, NULL, &w.json);
		w.ms[i] = now_ms() - begin;
	}
	print(name);
}

/* A line at a time, up from the middle. */
static void scroll(struct event_rows *rows)
{
	uint64_t row = event_rows_count(rows) / 2;

	for (size_t i = 0; i < w.jumps; i++) {
		double begin = now_ms();

		w.json.length = 0;
		event_rows_put_json(rows, row -= row > 0, w.rows, NULL, &w.json);
		w.ms[i] = now_ms() - begin;
	}
	print("scroll");
}

static void find_times(struct event_rows *rows)
{
	uint64_t length_ns = states_end_ns(w.states.states) - states_begin_ns(w.states.states);

	for (size_t i = 0; i < w.jumps; i++) {
		double begin = now_ms();

		event_rows_at(rows, pick(length_ns));
		w.ms[i] = now_ms() - begin;
	}
	print("at");
}

static bool ask(const char *name, const struct event_rows_options *options)
{
	double begin = now_ms();
	struct event_rows *rows;

	if (event_rows_open(w.path, options, &rows))
		return false;
	printf(",\n\"%s\": {\"open_ms\": %.1f", name, now_ms() - begin);
	if (event_rows_count(rows))
		jump(rows, "guessed");
	begin = now_ms();
	while (event_rows_step(rows, 10000000) == 1)
		;
	printf(", \"count_ms\": %.0f, \"rows\": %llu", now_ms() - begin, (unsigned long long)event_rows_count(rows));
	if (event_rows_count(rows)) {
		jump(rows, "jump");
		scroll(rows);
		find_times(rows);
	}
	printf("}");
	event_rows_close(rows);
	return true;
}

static bool ask_all(const char *only)
{
	static const struct {
		const char *name;
		enum filter_kind kind;
		const char *word, *search;
	} filters[] = {
		{ "event", FILTER_EVENT, "sched.WAKE", NULL },  { "rare", FILTER_EVENT, "thread.BORN", NULL },
		{ "thread", FILTER_THREAD, "5", NULL },         { "cpu", FILTER_CPU, "1", NULL },
		{ "process", FILTER_PROCESS, "front-1", NULL }, { "search", FILTER_KINDS, NULL, "STATE=2" },
	};
	struct event_rows_options options = { .states = &w.states };

	if ((!only || !strcmp(only, "all")) && !ask("all", &options))
		return false;
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		if (only && strcmp(filters[i].name, only))
			continue;
		options = (struct event_rows_options){ .states = &w.states, .search = filters[i].search };
		if (filters[i].word)
			event_filter_add(&options.filter, filters[i].kind, filters[i].word);
		if (!ask(filters[i].name, &options))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	struct rusage before, after;
	bool is_done;

	if (argc < 2) {
		fprintf(stderr, "usage: rows_ask TRACE [JUMPS [ROWS [SEED [ONLY]]]]\n");
		return 2;
	}
	w.path = argv[1];
	w.jumps = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	w.rows = argc > 3 ? strtoul(argv[3], NULL, 10) : 100;
	w.random = argc > 4 ? strtoul(argv[4], NULL, 10) : 1;
	w.ms = xcalloc(w.jumps + 1, sizeof(*w.ms));
	if (trace_states_open(w.path, false, NULL, &w.states))
		return 1;
	getrusage(RUSAGE_SELF, &before);
	printf("{\"states_rss_kb\": %ld", before.ru_maxrss);
	is_done = ask_all(argc > 5 ? argv[5] : NULL);
	getrusage(RUSAGE_SELF, &after);
	printf(",\n\"rss_kb\": %ld}\n", after.ru_maxrss);
	trace_states_close(&w.states);
	text_fini(&w.json);
	free(w.ms);
	return !is_done;
}
