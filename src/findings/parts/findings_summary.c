/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands out over all call paths and all locks: the functions in which critical slices were,
 * and the single unlocks that were most critical, each call path once.
 */
#include "findings/parts/findings_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/whole.h"
#include "findings/names/line_list.h"

enum { HOT_FUNCTIONS_MAX = 20, LINES_MAX = 64, UNLOCKS_MAX = 20 };

struct hot_function {
	struct report_hot_function hot;
	struct report_line lines[LINES_MAX];
	double cmetric_ns;
	size_t order;
};

static void add_lines(struct hot_function *hot, const struct report_function *function)
{
	for (size_t i = 0; i < function->line_count; i++)
		line_list_add(hot->lines, &hot->hot.function.line_count, LINES_MAX, function->lines[i].file,
			      function->lines[i].line, function->lines[i].samples);
}

/* A path's CMetric is its functions' as far as its samples are. */
static void add_functions(struct findings *findings, struct table *by_name, const struct report_path *path)
{
	uint64_t sample_count = 0;

	for (size_t i = 0; i < path->function_count; i++)
		sample_count += path->functions[i].samples;
	for (size_t i = 0; i < path->function_count; i++) {
		const struct report_function *function = &path->functions[i];
		uint64_t key = hash_string(1, function->name);
		struct hot_function *hot = table_find(by_name, key);

		if (!hot) {
			hot = arena_alloc(findings->arena, sizeof(*hot));
			hot->hot.function.name = function->name;
			hot->hot.function.lines = hot->lines;
			hot->order = table_count(by_name);
			table_put(by_name, key, hot);
		}
		hot->hot.function.samples += function->samples;
		hot->hot.function.stack_tops += function->stack_tops;
		hot->cmetric_ns += (double)path->cmetric_ns * function->samples / sample_count;
		add_lines(hot, function);
	}
}

static int hot_by_cmetric(const void *a, const void *b)
{
	const struct hot_function *x = *(struct hot_function *const *)a;
	const struct hot_function *y = *(struct hot_function *const *)b;

	if (x->cmetric_ns != y->cmetric_ns)
		return x->cmetric_ns < y->cmetric_ns ? 1 : -1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The same of the code that ran. */
static void add_code_functions(struct findings *findings)
{
	struct report *report = &findings->report;
	const struct report_code *code = &report->code;
	struct report_hot_function *rows = arena_alloc(findings->arena, HOT_FUNCTIONS_MAX * sizeof(*rows));

	report->hot_functions = rows;
	for (size_t i = 0; i < code->function_count && report->hot_function_count < HOT_FUNCTIONS_MAX; i++) {
		const struct report_code_function *function = &code->functions[i];
		uint64_t cmetric_ns = code->is_critical ? function->self.critical_ns : function->self.cmetric_ns;

		if (cmetric_ns)
			rows[report->hot_function_count++] = (struct report_hot_function){
				.function = { .name = function->name,
					      .samples = function->self.samples,
					      .lines = function->lines,
					      .line_count = function->line_count },
				.cmetric_ns = cmetric_ns,
			};
	}
}

static void add_hot_functions(struct findings *findings)
{
	struct report *report = &findings->report;
	struct table *by_name = table_new();
	struct report_hot_function *rows;
	struct hot_function **all, *hot;
	size_t cursor = 0, count = 0;

	for (size_t i = 0; i < findings_paths_read(report); i++)
		add_functions(findings, by_name, &report->paths[i]);
	all = xcalloc(table_count(by_name) + 1, sizeof(*all));
	while ((hot = table_next(by_name, &cursor)))
		all[count++] = hot;
	table_free(by_name);
	qsort(all, count, sizeof(*all), hot_by_cmetric);
	if (count > HOT_FUNCTIONS_MAX)
		count = HOT_FUNCTIONS_MAX;
	rows = arena_alloc(findings->arena, count * sizeof(*rows));
	for (size_t i = 0; i < count; i++) {
		line_list_sort(all[i]->lines, all[i]->hot.function.line_count);
		rows[i] = all[i]->hot;
		rows[i].cmetric_ns = whole(all[i]->cmetric_ns + 0.5);
	}
	free(all);
	report->hot_functions = rows;
	report->hot_function_count = count;
}

static int unlocks_by_worst(const void *a, const void *b)
{
	const struct report_waker *x = a, *y = b;

	if (x->cmetric_max_ns != y->cmetric_max_ns)
		return x->cmetric_max_ns < y->cmetric_max_ns ? 1 : -1;
	if (x->cmetric_ns != y->cmetric_ns)
		return x->cmetric_ns < y->cmetric_ns ? 1 : -1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static void add_unlocker(struct findings *findings, struct table *by_key, const struct report_waker *unlocker)
{
	struct report_waker *row = table_find(by_key, unlocker->key);

	if (!row) {
		row = arena_alloc(findings->arena, sizeof(*row));
		*row = *unlocker;
		row->share = 0; /* of what was waited for several locks, nobody asks */
		table_put(by_key, row->key, row);
		return;
	}
	row->wait_ns += unlocker->wait_ns;
	row->waits += unlocker->waits;
	row->cmetric_ns += unlocker->cmetric_ns;
	if (unlocker->cmetric_max_ns > row->cmetric_max_ns)
		row->cmetric_max_ns = unlocker->cmetric_max_ns;
}

/* The end of a thread that is waited for releases no lock. */
static bool is_lock(const struct report_lock *lock)
{
	return strcmp(lock->kind, "join") != 0;
}

void findings_add_unlocks(struct findings *findings)
{
	struct report *report = &findings->report;
	struct table *by_key = table_new();
	struct report_waker *rows, *row;
	size_t cursor = 0, count = 0;

	for (size_t i = 0; i < report->lock_count; i++) {
		const struct report_lock *lock = &report->locks[i];

		for (size_t k = 0; is_lock(lock) && k < lock->unlocker_count; k++)
			add_unlocker(findings, by_key, &lock->unlockers[k]);
	}
	rows = arena_alloc(findings->arena, table_count(by_key) * sizeof(*rows));
	while ((row = table_next(by_key, &cursor)))
		rows[count++] = *row;
	table_free(by_key);
	qsort(rows, count, sizeof(*rows), unlocks_by_worst);
	report->unlocks = rows;
	report->unlock_count = count < UNLOCKS_MAX ? count : UNLOCKS_MAX;
}

void findings_add_summary(struct findings *findings)
{
	if (findings->report.code.samples)
		add_code_functions(findings);
	else
		add_hot_functions(findings);
	findings_add_unlocks(findings);
}
