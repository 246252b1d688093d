/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who is late while threads spin, and whether somebody stands out. */
#include <math.h>
#include <stdlib.h>

#include "account/criticality.h"
#include "base/bound.h"
#include "base/memory.h"
#include "base/table.h"
#include "chains/blocked_sum.h"
#include "chains/run_moments.h"
#include "findings/blame/blame_internal.h"
#include "findings/blame/blame_spins_internal.h"
#include "findings/parts/findings_waits.h"

/*
 * charged_min: moments below it prove nothing. errors_min: what stands out is so many errors above what would be even. even_max:
 * so much of the way from even to all is still even. lift_min: what a call waits for is met so much more often while threads
 * spin. most_min: of the spinning, so much has to be charged. BESIDE: so long before or after it.
 */
enum { CHARGED_MIN = 10, BESIDE_NS = 8000000 };
static const double errors_min = 2, even_max = 0.25, lift_min = 1.5, most_min = 0.5;

bool spin_group_has(const struct spin_group *group, uint32_t thread)
{
	const struct thread_set *members = &group->members;
	size_t i = BOUND(0, members->count, k, members->numbers[k] < thread);

	return i < members->count && members->numbers[i] == thread;
}

bool spins_holds_up(void *data, const struct moment_wait *wait)
{
	const struct wait_path *path = wait->path;

	(void)data;
	if (!wait->is_over || wait->waker || !path)
		return false;
	return wait->cause == CAUSE_SLEEP || 2 * path->idle_ns < path->wait_ns;
}

struct blame_root *spins_root_of_wait(struct findings *findings, const struct moment_wait *met,
				      struct blame_detail **detail)
{
	struct blocked_wait wait = { .cause = met->cause, .path = met->path };
	struct report_blocked_wait row = findings_blocked_wait(findings, &wait);

	return blame_root_of_wait(findings, &row, (struct blame_ending){ 0 }, detail);
}

const struct part_sum *spin_group_heaviest(const struct table *table)
{
	const struct part_sum *sum, *most = NULL;
	size_t cursor = 0;

	while ((sum = table_next(table, &cursor))) {
		if (most && sum->weight < most->weight)
			continue;
		if (!most || sum->weight > most->weight ||
		    (sum->thread == most->thread ? sum->key < most->key : sum->thread < most->thread))
			most = sum;
	}
	return most;
}

double spins_error(double share, double count)
{
	return sqrt(fmax(share * (1 - share), 1 / (count + 1)) / (count + 1));
}

/* Threads that spin there, or that others spun for. */
static size_t count_team(const struct spins *spins, const struct spin_group *group)
{
	struct thread_set team = { 0 };
	const struct part_sum *sum;
	size_t cursor = 0;

	for (size_t i = 0; i < group->victims.count; i++)
		thread_set_put(&team, spins->findings->arena, group->victims.numbers[i]);
	while ((sum = table_next(group->threads, &cursor)))
		thread_set_put(&team, spins->findings->arena, sum->thread);
	return team.count;
}

static double second_weight(const struct table *table, const struct part_sum *most)
{
	const struct part_sum *sum;
	size_t cursor = 0;
	double weight = 0;

	while ((sum = table_next(table, &cursor)))
		weight = sum != most ? fmax(weight, sum->weight) : weight;
	return weight;
}

/*
 * Whether one thread is late far more often than each of them would be by chance. Of two that never spin themselves, one may have
 * nothing to do with it.
 */
static bool has_late_thread(const struct spins *spins, const struct spin_group *group, double count)
{
	const struct part_sum *late = spin_group_heaviest(group->threads);
	double share = late->weight / group->met, even = 1.0 / count_team(spins, group);

	if (!spin_group_has(group, late->thread) && late->weight < 2 * second_weight(group->threads, late))
		return false;
	return share - errors_min * spins_error(share, count) > even + even_max * (1 - even);
}

/* Whether one cause is met far more often while threads spin there than samples meet it in threads that do not spin. */
static bool has_late_cause(const struct spins *spins, const struct spin_group *group, double count)
{
	const struct part_sum *cause = spin_group_heaviest(group->causes);
	const struct part_sum *elsewhere = table_find(spins->elsewhere, cause->key);
	double share = cause->weight / group->met;
	double usual = elsewhere ? elsewhere->weight / spins->worked : 0;

	return cause->root->row.kind == ROOT_CODE && share - errors_min * spins_error(share, count) > lift_min * usual;
}

/* Ends of waits for a cause that moments have met. */
struct ends {
	uint64_t *times; /* in order, each as often as it was met; the caller's */
	size_t count, capacity;
};

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct ends ends_of(struct findings *findings, const struct run_moments *moments, const struct part_sum *cause)
{
	const struct run_moment *moment;
	struct ends ends = { 0 };

	for (size_t i = 0; (moment = run_moments_at(moments, i)); i++)
		for (size_t k = 0; k < moment->other_count; k++) {
			const struct moment_other *other = &moment->others[k];
			struct blame_detail *detail;

			if (other->phase != PHASE_BLOCKED || !spins_holds_up(NULL, other->wait) ||
			    spins_root_of_wait(findings, other->wait, &detail) != cause->root ||
			    detail != cause->detail)
				continue;
			ARRAY_GROW(ends.times, ends.count, ends.capacity, 64);
			ends.times[ends.count++] = other->wait->end_ns;
		}
	if (ends.count)
		qsort(ends.times, ends.count, sizeof(*ends.times), by_time);
	return ends;
}

/* Moments shortly before an end, or after one, and those of them at which the thread spun. */
struct side {
	double all, spun;
	size_t count;
};

/*
 * Whether those who spin there do so just before such a wait ends, and not just after it: who only ticks beside them makes no
 * difference.
 */
static bool ends_spinning(struct spins *spins, const struct spin_group *group, const struct part_sum *cause)
{
	const struct run_moments *moments = criticality_moments(spins->findings->input.criticality);
	struct ends ends = ends_of(spins->findings, moments, cause);
	struct side before = { 0 }, after = { 0 };
	const struct run_moment *moment;

	for (size_t i = 0; (moment = run_moments_at(moments, i)); i++) {
		size_t next = BOUND(0, ends.count, k, ends.times[k] <= moment->time_ns);
		struct side *side = next < ends.count && ends.times[next] - moment->time_ns <= BESIDE_NS ? &before
				    : next && moment->time_ns - ends.times[next - 1] <= BESIDE_NS        ? &after
													 : NULL;

		if (!side || !spin_group_has(group, moment->thread))
			continue;
		side->count++;
		side->all += moment->weight;
		side->spun += spins_code(spins, moment->code)->spins ? moment->weight : 0;
	}
	free(ends.times);
	return before.count >= CHARGED_MIN && after.count >= CHARGED_MIN &&
	       before.spun / before.all > lift_min * (after.spun / after.all);
}

/* A lock that is spun for has a holder as a rule: that somebody has it is nothing special, whichever code that is. */
bool spin_group_stands_out(struct spins *spins, const struct spin_group *group)
{
	double count = group->weight ? group->row.moments * group->met / group->weight : 0;
	const struct part_sum *cause;

	if (count < CHARGED_MIN || group->met < most_min * group->weight)
		return false;
	cause = spin_group_heaviest(group->causes);
	if (cause->root->row.kind == ROOT_WAIT && !ends_spinning(spins, group, cause))
		return false;
	return has_late_thread(spins, group, count) ||
	       (group->row.is_of_library && has_late_cause(spins, group, count));
}
