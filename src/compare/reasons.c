/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/reasons.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/memory.h"
#include "compare/code_changes.h"

#define NONE SIZE_MAX

/* What is rarer than this by chance is reported. */
static const double CHANCE_MAX = 0.05;

/* What somebody does, and not who or what it is for. */
static bool is_doing(const struct graph_set_node *node)
{
	switch (node->kind) {
	case GRAPH_WAIT:
	case GRAPH_RUNNING:
	case GRAPH_SPINNING:
	case GRAPH_CPU:
	case GRAPH_CPU_LIMIT:
		return true;
	default:
		return false;
	}
}

/* Most of it is so because somebody above waits longer: that is reported with what there was to wait for. */
static bool is_covered_above(const struct comparison *comparison, size_t at)
{
	const struct graph_set_node *nodes = comparison->set->nodes;
	double delta = comparison_delta(comparison, at);

	for (size_t above = nodes[at].parent; above != NONE; above = nodes[above].parent)
		if (nodes[above].kind == GRAPH_WAIT &&
		    comparison_delta(comparison, above) * copysign(1, delta) >= fabs(delta) / 2)
			return true;
	return false;
}

/* Who else had a CPU or a disk is reported with the wait for it: what those did is no difference of its own. */
static bool is_of_user(const struct graph_set_node *nodes, size_t at)
{
	for (size_t above = nodes[at].parent; above != NONE; above = nodes[above].parent)
		if (nodes[above].kind == GRAPH_CPU || nodes[above].kind == GRAPH_DISK)
			return true;
	return false;
}

static int by_size(const void *a, const void *b)
{
	const struct reason *x = a, *y = b;
	double x_ns = fabs(x->ns.delta), y_ns = fabs(y->ns.delta);

	if (x_ns != y_ns)
		return x_ns < y_ns ? 1 : -1;
	return x->node < y->node ? -1 : x->node > y->node;
}

static void correct(struct reasons *reasons)
{
	struct difference **differences = xcalloc(reasons->count + 1, sizeof(struct difference *));

	for (size_t i = 0; i < reasons->count; i++)
		differences[i] = &reasons->list[i].ns;
	differences_correct(differences, reasons->count);
	free(differences);
}

static void drop_unsure(struct reasons *reasons)
{
	size_t count = 0;

	for (size_t i = 0; i < reasons->count; i++)
		if (isnan(reasons->list[i].ns.chance) || reasons->list[i].ns.chance < CHANCE_MAX)
			reasons->list[count++] = reasons->list[i];
	reasons->unsure_count = reasons->count - count;
	reasons->count = count;
}

void reasons_find(const struct comparison *comparison, struct reasons *out)
{
	const struct graph_set *set = comparison->set;
	double least_ns = comparison_least_ns(comparison);

	*out = (struct reasons){ .list = xcalloc(set->count + 1, sizeof(*out->list)) };
	for (size_t i = 0; i < set->count; i++) {
		double delta = comparison_delta(comparison, i);

		if (is_doing(&set->nodes[i]) && delta && fabs(delta) >= least_ns && !is_of_user(set->nodes, i) &&
		    !is_covered_above(comparison, i))
			out->list[out->count++] = (struct reason){ .node = i, .ns = comparison_of_node(comparison, i) };
	}
	correct(out);
	drop_unsure(out);
	if (out->count)
		qsort(out->list, out->count, sizeof(*out->list), by_size);
}

const char *reason_runner(const struct comparison *comparison, const struct reason *reason)
{
	const struct graph_set_node *nodes = comparison->set->nodes, *node = &nodes[reason->node];
	size_t parent = node->parent;

	if (node->kind != GRAPH_RUNNING || parent == SIZE_MAX)
		return NULL;
	if (!comparison->is_of_runs)
		return parent ? NULL : "";
	return nodes[parent].parent ? NULL : nodes[parent].label;
}

void reason_name(struct reason *reason, const struct code_changes *changes)
{
	for (size_t i = 0; i < changes->count && !reason->function; i++) {
		const struct code_change *change = &changes->list[i];

		if (!change->self.is_significant || (change->self.delta_ns > 0) != (reason->ns.delta > 0))
			continue;
		reason->function = xstrdup(change->name);
		reason->function_ns = change->self.delta_ns;
		reason->function_error_ns = change->self.delta_error_ns;
	}
}

void reasons_fini(struct reasons *reasons)
{
	for (size_t i = 0; i < reasons->count; i++)
		free(reasons->list[i].function);
	free(reasons->list);
	*reasons = (struct reasons){ 0 };
}
