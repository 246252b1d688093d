/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/graph/path_text.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/text.h"
#include "graph/graph_label.h"
#include "graph/path_sums.h"

enum { LINES = 40 };

static uint64_t length_ns(const struct critical_path *path)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < path->count; i++)
		ns += path->parts[i].end_ns - path->parts[i].begin_ns;
	return ns;
}

static void put_duration(struct text *out, uint64_t ns)
{
	struct text duration = { 0 };

	text_put_duration(&duration, ns);
	text_printf(out, "%9s", duration.bytes);
	text_fini(&duration);
}

static void put_doing(struct text *out, const struct path_view *view, const struct path_part *part)
{
	const char *end = path_part_end(view->labels, part);

	text_put_escaped(out, path_part_who(view->labels, part));
	text_put(out, "  ");
	text_put_escaped(out, path_part_what(view->labels, part));
	if (end) {
		text_put(out, ": ");
		text_put_escaped(out, end);
	}
}

static void put_sums(struct text *out, const struct path_view *view, uint64_t all_ns)
{
	uint64_t rest_ns = 0, rest_count = 0;
	size_t count;
	struct path_sum *sums = path_sums(view->path, view->labels, &count);

	for (size_t i = 0; i < count; i++) {
		if (sums[i].ns < view->share_min * all_ns) {
			rest_ns += sums[i].ns;
			rest_count++;
			continue;
		}
		text_printf(out, "%6.1f %%  ", all_ns ? 100.0 * sums[i].ns / all_ns : 0);
		put_duration(out, sums[i].ns);
		text_put(out, "  ");
		put_doing(out, view, &sums[i].part);
		if (sums[i].count > 1) {
			text_put(out, ", ");
			text_put_count(out, sums[i].count);
			text_put(out, " times, max ");
			text_put_duration(out, sums[i].max_ns);
		}
		text_put(out, "\n");
	}
	free(sums);
	if (!rest_count)
		return;
	text_printf(out, "%6.1f %%  ", all_ns ? 100.0 * rest_ns / all_ns : 0);
	put_duration(out, rest_ns);
	text_put(out, "  ");
	text_put_count(out, rest_count);
	text_put(out, " more\n");
}

static int by_length(const void *a, const void *b)
{
	const struct path_part *x = *(const struct path_part *const *)a;
	const struct path_part *y = *(const struct path_part *const *)b;
	uint64_t x_ns = x->end_ns - x->begin_ns, y_ns = y->end_ns - y->begin_ns;

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

static int by_begin(const void *a, const void *b)
{
	const struct path_part *x = *(const struct path_part *const *)a;
	const struct path_part *y = *(const struct path_part *const *)b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* The longest parts, in time order. */
static void put_line(struct text *out, const struct path_view *view)
{
	const struct critical_path *path = view->path;
	const struct path_part **parts = xcalloc(path->count + 1, sizeof(*parts));
	size_t count = path->count < LINES ? path->count : LINES;

	for (size_t i = 0; i < path->count; i++)
		parts[i] = &path->parts[i];
	qsort(parts, path->count, sizeof(*parts), by_length);
	qsort(parts, count, sizeof(*parts), by_begin);
	for (size_t i = 0; i < count; i++) {
		text_printf(out, "%14.6f s  ", (parts[i]->begin_ns - view->first_ns) / 1e9);
		put_duration(out, parts[i]->end_ns - parts[i]->begin_ns);
		text_put(out, "  ");
		put_doing(out, view, parts[i]);
		text_put(out, "\n");
	}
	free(parts);
}

void path_put_text(struct text *out, const struct path_view *view)
{
	uint64_t all_ns = length_ns(view->path);
	struct graph_node whose = { .kind = GRAPH_THREAD, .id = view->thread };

	text_put(out, "The critical path of ");
	text_put_escaped(out, graph_label(view->labels, &whose));
	text_put(out, ", ");
	text_put_duration(out, all_ns);
	text_put(out, ": what it was blocked on, and what it did\n\n");
	put_sums(out, view, all_ns);
	text_put(out, view->path->count > LINES ? "\nIts longest parts, in time order\n\n" : "\nIn time order\n\n");
	put_line(out, view);
}
