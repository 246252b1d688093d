/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/trace/comparison_code.h"

#include "base/memory.h"
#include "base/whole.h"
#include "compare/code_changes.h"
#include "compare/configurations.h"
#include "report/report.h"
#include "results/results.h"
#include "view/json/json_fields.h"

static uint64_t rounded(double ns)
{
	return whole(ns + 0.5);
}

static struct result_code_difference result_of_difference(const struct code_difference *difference)
{
	return (struct result_code_difference){
		.first_ns = rounded(difference->ns[0]),
		.first_error_ns = rounded(difference->error_ns[0]),
		.second_ns = rounded(difference->ns[1]),
		.second_error_ns = rounded(difference->error_ns[1]),
		.change_ns = difference->delta_ns,
		.change_error_ns = rounded(difference->delta_error_ns),
		.p = difference->chance,
		.is_significant = difference->is_significant,
	};
}

static struct result_code_changes results_of_changes(const struct code_changes *changes, struct arena *arena)
{
	struct result_code_change *rows = arena_alloc(arena, changes->count * sizeof(*rows));

	for (size_t i = 0; i < changes->count; i++) {
		const struct code_change *change = &changes->list[i];

		rows[i].name = change->name;
		rows[i].is_own = change->is_own;
		rows[i].samples_of[0] = change->samples[0];
		rows[i].samples_of[1] = change->samples[1];
		rows[i].samples = rows[i].samples_of;
		rows[i].sample_count = 2;
		rows[i].self = result_of_difference(&change->self);
		rows[i].total = result_of_difference(&change->total);
	}
	return (struct result_code_changes){ rows, changes->count, changes->unsure_count };
}

static const struct result_code_changes *results_or_null(const struct code_changes *changes, struct arena *arena)
{
	struct result_code_changes *results;

	if (!changes)
		return NULL;
	results = arena_alloc(arena, sizeof(*results));
	*results = results_of_changes(changes, arena);
	return results;
}

const struct result_comparison_code *comparison_code_results(const struct comparison_code *code, struct arena *arena)
{
	struct result_comparison_code *results = arena_alloc(arena, sizeof(*results));

	results->cpu = results_of_changes(code->cpu, arena);
	results->cmetric = results_or_null(code->cmetric, arena);
	results->paths = results_or_null(code->paths, arena);
	return results;
}

static const struct result_configuration_part *results_of_parts(const struct configuration_group *group, size_t count,
								struct arena *arena)
{
	struct result_configuration_part *parts = arena_alloc(arena, count * sizeof(*parts));

	for (size_t i = 0; i < count; i++)
		parts[i] = (struct result_configuration_part){
			group->parts[i].thread_count,
			group->parts[i].cmetric_ns,
			group->parts[i].most_ns,
		};
	return parts;
}

static struct result_configurations results_of_configurations(const struct comparison_code *code, struct arena *arena)
{
	const struct configurations *all = code->configurations;
	struct result_configuration_trace *traces = arena_alloc(arena, all->count * sizeof(*traces));
	struct result_configuration_group *groups = arena_alloc(arena, all->group_count * sizeof(*groups));

	for (size_t i = 0; i < all->count; i++)
		traces[i] = (struct result_configuration_trace){
			code->traces[i],
			all->reports[i]->target.wall_ns,
			all->reports[i]->totals.cmetric_ns,
			all->reports[i]->totals.threads,
		};
	for (size_t i = 0; i < all->group_count; i++)
		groups[i] = (struct result_configuration_group){
			all->groups[i].name,
			results_of_parts(&all->groups[i], all->count, arena),
			all->count,
		};
	return (struct result_configurations){ traces, all->count, groups, all->group_count };
}

const struct result_configurations *configurations_results(const struct comparison_code *code, struct arena *arena)
{
	struct result_configurations *results;

	if (!code->configurations)
		return NULL;
	results = arena_alloc(arena, sizeof(*results));
	*results = results_of_configurations(code, arena);
	return results;
}

void configurations_put_document(struct text *out, const struct comparison_code *code)
{
	struct arena *arena = arena_new();
	struct result_configurations_alone alone = {
		.of = "configurations",
		.configurations = results_of_configurations(code, arena),
	};

	json_put_document(out, result_configurations_alone_type(), &alone);
	arena_free(arena);
}
