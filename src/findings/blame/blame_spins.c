/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/blame/blame_spins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "account/code_samples.h"
#include "account/criticality.h"
#include "base/table.h"
#include "chains/run_moments.h"
#include "findings/blame/blame_internal.h"
#include "findings/blame/blame_spins_internal.h"
#include "findings/parts/findings_internal.h"

/*
 * own_min: so much belongs to one thread to be called its own. victim_min: threads are victims of what took so much of their
 * spinning. spun_min: less of the time that was not idle is not looked at.
 */
static const double own_min = 0.8, victim_min = 0.01, spun_min = 0.01;

/* --- Sums ---------------------------------------------------------------------------------------- */

static struct part_sum *get_sum(struct spins *spins, struct table *table, uint64_t key)
{
	struct part_sum *sum = table_find(table, key);

	if (!sum) {
		sum = arena_alloc(spins->findings->arena, sizeof(*sum));
		sum->key = key;
		table_put(table, key, sum);
	}
	return sum;
}

static void add_cause(struct spins *spins, struct table *table, struct blame_root *root, struct blame_detail *detail,
		      double weight)
{
	uint64_t place = detail ? hash_u64(detail->object_key ^ hash_u64(detail->place_key)) : 0;
	struct part_sum *sum = get_sum(spins, table, hash_u64(root->row.key ^ place));

	sum->root = root;
	sum->detail = detail;
	sum->weight += weight;
}

static void add_late(struct spins *spins, struct spin_group *group, uint32_t thread, double weight)
{
	struct part_sum *sum = get_sum(spins, group->threads, thread);

	sum->thread = thread;
	sum->weight += weight;
}

/* --- Moments ------------------------------------------------------------------------------------- */

/* Of whom it is asked. */
struct asked {
	struct spins *spins;
	const struct spin_group *group;
};

static bool waits_at(void *data, const struct code_sample *code)
{
	const struct asked *asked = data;

	return spins_code(asked->spins, code)->waits;
}

static bool is_member(void *data, uint32_t thread)
{
	const struct asked *asked = data;

	return spin_group_has(asked->group, thread);
}

/* What one that is late did has a part of the moment. */
static void charge_other(struct spins *spins, struct spin_group *group, const struct moment_other *other, double weight)
{
	struct findings *findings = spins->findings;
	struct blame_detail *detail = NULL;
	struct blame_root *root;

	if (other->phase == PHASE_RUNNING) {
		const struct met_code *code = spins_code(spins, other->code);

		root = code->root;
		detail = code->detail;
	} else if (other->phase == PHASE_RUNNABLE) {
		root = blame_root_of_kind(findings, ROOT_CPU);
	} else {
		root = spins_root_of_wait(findings, other->wait, &detail);
	}
	add_cause(spins, group->causes, root, detail, weight);
	add_late(spins, group, other->thread, weight);
}

static bool is_alone(const struct run_moment *moment)
{
	for (size_t i = 0; i < moment->other_count; i++)
		if (moment->others[i].phase != PHASE_BLOCKED)
			return false;
	return true;
}

static void add_late_ones(struct spins *spins, struct spin_group *group, const struct run_moment *moment)
{
	const struct moment_judge judge = { waits_at, spins_holds_up, is_member, &(struct asked){ spins, group } };
	const struct moment_other *late[MOMENT_OTHERS_MAX];
	size_t count = run_moment_late(moment, &judge, late);

	for (size_t i = 0; i < count; i++)
		charge_other(spins, group, late[i], moment->weight / count);
	if (count)
		group->met += moment->weight;
	else if (is_alone(moment))
		group->alone += moment->weight;
}

/* Of those at which threads spin, when all groups have their members. */
static void divide_moments(struct spins *spins, const struct run_moments *moments)
{
	const struct run_moment *moment;

	for (size_t i = 0; (moment = run_moments_at(moments, i)); i++) {
		const struct met_code *code = spins_code(spins, moment->code);

		if (code->spins)
			add_late_ones(spins, code->group, moment);
	}
}

static void add_moment(struct spins *spins, const struct run_moment *moment)
{
	struct met_code *code = spins_code(spins, moment->code);

	code->weight += moment->weight;
	if (!code->spins) {
		spins->worked += moment->weight;
		add_cause(spins, spins->elsewhere, code->root, code->detail, moment->weight);
		return;
	}
	spins->spun += moment->weight;
	code->group->weight += moment->weight;
	code->group->row.moments++;
	/* One sample alone may be an error. */
	if (!thread_set_put(&code->group->victims, spins->findings->arena, moment->thread))
		thread_set_put(&code->group->members, spins->findings->arena, moment->thread);
}

/* --- Charging ------------------------------------------------------------------------------------ */

static void add_part(struct findings *findings, struct table *parts, const struct report_root *root, double ns)
{
	struct blame_part *part = table_find(parts, (uintptr_t)root);

	if (!part) {
		part = arena_alloc(findings->arena, sizeof(*part));
		part->root = root;
		table_put(parts, (uintptr_t)root, part);
	}
	part->ns += ns;
}

static void add_chain(struct findings *findings, struct blame_root *root, const char *where, double ns)
{
	struct blame_chain *chain = arena_alloc(findings->arena, sizeof(*chain));

	chain->spin = where;
	chain->ns = ns;
	chain->next = root->chains;
	root->chains = chain;
}

static void charge(struct findings *findings, struct spin_group *group)
{
	struct table *parts = table_new();
	const struct part_sum *sum, *late = spin_group_heaviest(group->threads);
	double n = group->row.moments, scale = group->row.ns / group->weight;
	size_t cursor = 0;

	while ((sum = table_next(group->causes, &cursor))) {
		double error = spins_error(sum->weight / group->weight, n) * group->row.ns;

		sum->root->ns += sum->weight * scale;
		sum->root->variance += error * error;
		if (sum->detail)
			sum->detail->ns += sum->weight * scale;
		for (size_t i = 0; i < group->victims.count && sum->weight >= victim_min * group->weight; i++)
			thread_set_put(&sum->root->victims, findings->arena, group->victims.numbers[i]);
		add_chain(findings, sum->root, group->row.where, sum->weight * scale);
		add_part(findings, parts, &sum->root->row, sum->weight * scale);
	}
	if (late->weight >= own_min * group->met)
		group->row.late = table_find(findings->blame->threads, late->thread);
	group->row.parts = blame_list_parts(parts);
}

static int groups_by_time(const void *a, const void *b)
{
	const struct spin_group *x = *(struct spin_group *const *)a, *y = *(struct spin_group *const *)b;

	if (x->row.ns != y->row.ns)
		return x->row.ns < y->row.ns ? 1 : -1;
	return strcmp(x->row.where, y->row.where);
}

/* What a function's own row would repeat. */
static void cover(const struct spins *spins)
{
	const struct met_code *code;
	size_t cursor = 0;

	while ((code = table_next(spins->codes, &cursor))) {
		struct findings_spin *spin =
			code->spins ? findings_find_spin(spins->findings, code->sample->pid, code->sample->first_ns,
							 code->sample->ip, code->sample->kernel_ip)
				    : NULL;

		if (!spin)
			continue;
		spin->met += code->weight;
		if (code->group->row.parts || code->group->row.is_of_library)
			spin->covered += code->weight;
	}
}

/* In the order of their time; what has parts is charged. */
static double put_groups(struct spins *spins)
{
	struct findings *findings = spins->findings;
	double spun_ns = findings->report.balance.threads.spinning_ns, charged_ns = 0;
	struct spin_group **all = xcalloc(table_count(spins->groups) + 1, sizeof(*all));
	size_t count = 0;

	for (struct spin_group *group = spins->first; group; group = group->next) {
		/* Samples of others met it, and none of its own. */
		if (!group->weight)
			continue;
		group->row.ns = spun_ns * group->weight / spins->spun;
		group->row.met_share = group->met / group->weight;
		group->row.alone_share = group->alone / group->weight;
		group->row.threads = group->victims.count;
		all[count++] = group;
	}
	qsort(all, count, sizeof(*all), groups_by_time);
	for (size_t i = count; i--;) {
		if (spin_group_stands_out(spins, all[i])) {
			charge(findings, all[i]);
			charged_ns += all[i]->row.ns * all[i]->row.met_share;
		}
		all[i]->row.next = findings->blame->spins;
		findings->blame->spins = &all[i]->row;
	}
	free(all);
	cover(spins);
	return charged_ns;
}

static void free_spins(struct spins *spins)
{
	for (struct spin_group *group = spins->first; group; group = group->next) {
		table_free(group->causes);
		table_free(group->threads);
	}
	table_free(spins->codes);
	table_free(spins->groups);
	table_free(spins->elsewhere);
}

double blame_add_spins(struct findings *findings)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	const struct run_moments *moments = criticality_moments(findings->input.criticality);
	struct spins spins = { .findings = findings };
	const struct run_moment *moment;
	double charged_ns = 0;

	if (!findings->input.judge || !moments || !threads->spinning_ns ||
	    threads->spinning_ns < spun_min * threads->busy_ns)
		return 0;
	spins.codes = table_new();
	spins.groups = table_new();
	spins.elsewhere = table_new();
	for (size_t i = 0; (moment = run_moments_at(moments, i)); i++)
		add_moment(&spins, moment);
	divide_moments(&spins, moments);
	if (spins.spun > 0)
		charged_ns = put_groups(&spins);
	free_spins(&spins);
	return charged_ns;
}

const struct blame_spin *blame_spins(const struct findings *findings)
{
	return findings->blame ? findings->blame->spins : NULL;
}
