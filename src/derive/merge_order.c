/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "derive/merge_order.h"

#include "clocks/clock_fit.h"
#include "derive/merge_host.h"
#include "derive/merge_peers.h"

enum {
	BEFORE_UNCERTAINTIES = 4
}; /* data is on its way for about so long at most: clocks were compared by messages of the same kind */

/* Arrivals at both ends of a connection in one direction, in the order of time. */
struct walk {
	const struct peer_ends *ends;
	size_t first;       /* the next arrival at the first end */
	uint64_t before_ns; /* the arrival before at the second end, by host 0's clock; 0: none */
};

static uint64_t time_of(const struct peer_ends *ends, int end, size_t arrival, uint64_t *uncertainty_ns)
{
	return merge_host_time_ns(ends->hosts[end], ends->arrivals[end]->list[arrival].time_ns, uncertainty_ns);
}

/*
 * Whether the first end waited for the arrival already when data came to the second one. One that begins to wait about then may have
 * sent that data, in answer to what it did not have to wait for: such an arrival is not recorded. Then this is not what was answered.
 */
static bool has_waited(const struct walk *walk, uint64_t came_ns, uint64_t uncertainty_ns)
{
	uint64_t since_ns = walk->ends->arrivals[0]->list[walk->first].since_ns;

	if (!since_ns)
		return false;
	return merge_host_time_ns(walk->ends->hosts[0], since_ns, NULL) + BEFORE_UNCERTAINTIES * uncertainty_ns <
	       came_ns;
}

/*
 * Whether data came to the second end (came_ns) too early: since what came there before, nothing had come to the first end,
 * but something did within the uncertainty after it. 0: it did not. Else by how much, and that arrival is walk->first.
 *
 *	first end    ──────────────────────────────○── walk->first
 *	second end   ────────○ before_ns───────○ came_ns
 */
static uint64_t is_too_early(struct walk *walk, uint64_t came_ns, uint64_t uncertainty_ns)
{
	const struct arrivals *first = walk->ends->arrivals[0];
	uint64_t last_ns = 0, next_ns = 0;

	while (walk->first < first->count && (next_ns = time_of(walk->ends, 0, walk->first, NULL)) <= came_ns) {
		last_ns = next_ns;
		walk->first++;
	}
	if (walk->first == first->count || last_ns > walk->before_ns || next_ns <= came_ns ||
	    next_ns - came_ns > uncertainty_ns || !has_waited(walk, came_ns, uncertainty_ns))
		return 0;
	return next_ns - came_ns;
}

/*
 * The first end's clock showed asked_ns before the second end's showed came_ns: a bound of the fit that connects both. False:
 * none does, or it allows no such thing.
 */
static bool require(const struct peer_ends *ends, uint64_t asked_ns, uint64_t came_ns)
{
	struct merge_host *first = ends->hosts[0], *second = ends->hosts[1];
	struct merge_host *child = first->reference == second ? first : second;
	struct merge_host *asker = child->is_asked ? child->reference : child;

	if (child->reference != (child == first ? second : first))
		return false;
	if (asker == first)
		return clock_fit_require(child->fit, asked_ns, (int64_t)(came_ns - asked_ns), true);
	return clock_fit_require(child->fit, came_ns, (int64_t)(asked_ns - came_ns), false);
}

static void check(const struct peer_ends *ends, bool corrects, struct merge_order *order)
{
	struct walk walk = { .ends = ends };

	for (size_t i = 0; i < ends->arrivals[1]->count; i++) {
		uint64_t uncertainty_ns = 0, came_ns, early_ns;

		time_of(ends, 0, 0, &uncertainty_ns);
		came_ns = time_of(ends, 1, i, &uncertainty_ns);
		early_ns = is_too_early(&walk, came_ns, uncertainty_ns);
		walk.before_ns = came_ns;
		if (!early_ns)
			continue;
		if (corrects &&
		    require(ends, ends->arrivals[0]->list[walk.first].time_ns, ends->arrivals[1]->list[i].time_ns)) {
			order->corrected++;
			continue;
		}
		order->left++;
		if (early_ns > order->left_ns_max)
			order->left_ns_max = early_ns;
	}
}

static void check_all(const struct merge_peers *peers, bool corrects, struct merge_order *order)
{
	struct peer_ends ends;
	size_t cursor = 0;

	for (ends = merge_peers_next(peers, &cursor); ends.hosts[0]; ends = merge_peers_next(peers, &cursor))
		if (ends.arrivals[0]->count)
			check(&ends, corrects, order);
}

struct merge_order merge_order_correct(const struct merge_peers *peers)
{
	struct merge_order order = { 0 }, now = { 0 };

	check_all(peers, true, &order);
	check_all(peers, false, &now);
	now.corrected = order.corrected;
	return now;
}
