/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "spin/spin_flow.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "spin/spin_flow_internal.h"

enum { TURNS_MAX = 4, STEPS_GONE_MAX = 1024, PASS_STEPS_MAX = 6 };

struct spin_flow *spin_flow_new(void)
{
	return xcalloc(1, sizeof(struct spin_flow));
}

void spin_flow_free(struct spin_flow *flow)
{
	free(flow);
}

void spin_flow_begin(struct spin_flow *flow, const struct spin_graph *graph, spin_set steps)
{
	flow->graph = graph;
	spin_memory_begin(flow, steps);
}

/* --- A turn ---------------------------------------------------------------------------------- */

/* Brings a state from step i to the next one. True when that has to be walked from, again. */
static bool arrive(struct spin_flow *flow, const struct spin_state *state, int i, int next)
{
	bool is_end = next == flow->body.head;
	struct spin_state *in = is_end ? &flow->out : &flow->in[next];
	const struct spin_step *steps = flow->graph->steps;
	bool is_inner_turn = !is_end && steps[next].address <= steps[i].address;
	bool has_changed = false;

	if (is_end ? !flow->has_out : !(flow->has_state & SPIN_BIT(next))) {
		memcpy(in, state, flow->location_count * sizeof(*state->at));
		flow->has_out |= is_end;
		flow->has_state |= is_end ? 0 : SPIN_BIT(next);
		return !is_end;
	}
	for (int k = 0; k < flow->location_count; k++)
		has_changed |= spin_value_join(&in->at[k], &state->at[k], is_inner_turn);
	return has_changed && !is_end;
}

/* It only tests a variable or a register, or gets it for that. */
static bool is_mere_test(const struct spin_step *step)
{
	bool is_local = !step->has_place || ((step->place.base == SPIN_RBP || step->place.base == SPIN_RSP) &&
					     step->place.index == SPIN_NOWHERE);

	return is_local && (step->effect == SPIN_IDLE || step->effect == SPIN_COPY || step->effect == SPIN_TEST ||
			    step->effect == SPIN_COMPARE || step->effect == SPIN_AND);
}

/*
 * Where ways meet, what is known of one is lost in what is known of all. Without optimisation they
 * meet to test together how each of them has decided, as those of && do. So if the step, further on
 * than *i, leads to such a test, and this state alone says how that ends, goes on behind it: *i is
 * the branch then, and what follows is returned, perhaps nothing.
 */
static spin_set pass_join(struct spin_flow *flow, struct spin_state *state, int *i, int step, bool *has_passed)
{
	const struct spin_step *steps = flow->graph->steps;
	struct spin_state ahead;
	spin_set next = SPIN_BIT(step);
	int at = *i;

	*has_passed = false;
	memcpy(&ahead, state, flow->location_count * sizeof(*ahead.at));
	for (int k = 0; k < PASS_STEPS_MAX && next && !(next & (next - 1)); k++) {
		int before = at;
		uint8_t ways;

		at = spin_set_first(next);
		if (at == flow->body.head || steps[at].address <= steps[before].address || !is_mere_test(&steps[at]))
			return 0;
		ways = spin_effect_apply(flow, &ahead, at);
		flow->is_lost |= ++flow->steps_gone > STEPS_GONE_MAX;
		next = spin_graph_next(flow->graph, at, ways) & flow->body.steps;
		if (steps[at].control != SPIN_BRANCH)
			continue;
		if (ways == (SPIN_BEHIND | SPIN_AT_TARGET))
			return 0;
		memcpy(state, &ahead, flow->location_count * sizeof(*ahead.at));
		*i = at;
		*has_passed = true;
		return next;
	}
	return 0;
}

/* The same as often as it can be done. next: what follows *i. */
static spin_set pass_joins(struct spin_flow *flow, struct spin_state *state, int *i, spin_set next)
{
	bool has_passed = true;

	while (has_passed && next && !(next & (next - 1)) && next & flow->joins) {
		spin_set behind = pass_join(flow, state, i, spin_set_first(next), &has_passed);

		if (has_passed)
			next = behind;
	}
	return next;
}

/* Walks from a step to where ways part or meet. Returns the steps to walk from next. */
static spin_set walk_from(struct spin_flow *flow, int i)
{
	const struct spin_state *begin = i == flow->body.head ? &flow->head : &flow->in[i];
	struct spin_state state;
	spin_set todo = 0, next;

	memcpy(&state, begin, flow->location_count * sizeof(*state.at));
	for (;;) {
		uint8_t ways = spin_effect_apply(flow, &state, i);

		flow->is_lost |= ++flow->steps_gone > STEPS_GONE_MAX;
		next = spin_graph_next(flow->graph, i, ways) & flow->body.steps;
		next = pass_joins(flow, &state, &i, next);
		if (flow->is_lost || !next)
			return 0;
		if (next & (next - 1) || next & flow->joins)
			break;
		i = spin_set_first(next);
	}
	for (; next; next &= next - 1) {
		int step = spin_set_first(next);

		if (arrive(flow, &state, i, step))
			todo |= SPIN_BIT(step);
	}
	return todo;
}

static void go_round(struct spin_flow *flow)
{
	spin_set todo = SPIN_BIT(flow->body.head), storing = flow->facts.storing;

	flow->facts = (struct spin_facts){
		.seen = flow->facts.seen,
		.attempts = flow->facts.attempts,
	};
	flow->has_state = flow->branches = flow->accesses = 0;
	flow->has_out = false;
	while (todo && !flow->is_lost) {
		int i = spin_set_first(todo);

		todo &= ~SPIN_BIT(i);
		todo |= walk_from(flow, i);
	}
	/* Of what this turn does not come to, an earlier one knows. */
	flow->facts.storing |= storing & ~flow->facts.visited;
}

/* --- From turn to turn ----------------------------------------------------------------------- */

static struct spin_value initial(int location)
{
	return (struct spin_value){
		.symbol = SPIN_INITIAL + location,
		.depends = 1ull << location,
	};
}

static uint64_t changed_locations(const struct spin_flow *flow)
{
	uint64_t changed = 0;

	for (int i = 0; i < flow->location_count && flow->has_out; i++) {
		struct spin_value before = initial(i);

		if (!spin_value_is_same(&flow->out.at[i], &before))
			changed |= 1ull << i;
	}
	return changed;
}

/* Of the changed locations, all that the next value of each depends on, over several turns. */
static void find_reach(const struct spin_flow *flow, uint64_t changed, uint64_t reach[SPIN_LOCATIONS_MAX])
{
	for (int i = 0; i < flow->location_count; i++)
		reach[i] = changed >> i & 1 ? flow->out.at[i].depends & changed : 0;
	for (int via = 0; via < flow->location_count; via++) /* Warshall's transitive closure */
		for (int i = 0; reach[via] && i < flow->location_count; i++)
			if (reach[i] >> via & 1)
				reach[i] |= reach[via];
}

/* One more of them depends on location and is depended on. */
static bool is_entangled(const struct spin_flow *flow, const uint64_t *reach, int location)
{
	for (int i = 0; i < flow->location_count; i++)
		if (i != location && reach[location] >> i & 1 && reach[i] >> location & 1)
			return true;
	return false;
}

/*
 * Which locations carry something on from turn to turn: those that depend on themselves. If that is
 * by addition, and on no other that depends on them, they are counters; else something is computed.
 */
static void find_carried(struct spin_flow *flow, uint64_t changed)
{
	uint64_t reach[SPIN_LOCATIONS_MAX], others = 0;

	flow->counters = flow->counted = flow->computed = 0;
	find_reach(flow, changed, reach);
	for (int i = 0; i < flow->location_count; i++) {
		if (!(reach[i] >> i & 1))
			continue;
		if (is_entangled(flow, reach, i) || flow->out.at[i].mixed >> i & 1)
			others |= 1ull << i;
		else if (flow->out.at[i].stepped >> i & 1)
			flow->counters |= 1ull << i;
	}
	for (int i = 0; i < flow->location_count; i++) {
		uint64_t all = reach[i] | 1ull << i;

		flow->counted |= all & flow->counters ? 1ull << i : 0;
		flow->computed |= all & others ? 1ull << i : 0;
	}
}

/*
 * Whether a turn sets something for the next one, by the code alone, that decides which way that
 * takes or where it reads. To be asked after the first turn, where all that it begins with has a
 * name.
 */
static bool find_states(const struct spin_flow *flow, uint64_t changed)
{
	const uint8_t elsewhere = SPIN_POLLED | SPIN_LOCAL | SPIN_CHANGING | SPIN_WALKED;
	uint64_t deciding = 0, states = 0;

	for (spin_set rest = flow->branches; rest; rest &= rest - 1) {
		const struct spin_value *condition = &flow->condition[spin_set_first(rest)];

		if (!(condition->from & (SPIN_POLLED | SPIN_CHANGING)))
			deciding |= condition->depends;
	}
	for (spin_set rest = flow->accesses; rest; rest &= rest - 1)
		deciding |= flow->address[spin_set_first(rest)].depends;
	for (int i = 0; i < flow->location_count; i++)
		if (changed & ~flow->counted & 1ull << i && !(flow->out.at[i].from & elsewhere))
			states |= 1ull << i;
	return deciding & states;
}

/*
 * The next turn begins where this one ended, which for what is carried is anywhere. True when that
 * is something else than where this one began.
 */
static bool begin_next(struct spin_flow *flow)
{
	uint64_t carried = flow->counted | flow->computed;
	bool has_changed = false;

	for (int i = 0; i < flow->location_count; i++) {
		struct spin_value next = flow->out.at[i], *head = &flow->head.at[i];

		if (carried >> i & 1) {
			next = initial(i);
			next.from = flow->out.at[i].from;
			next.reader = flow->out.at[i].reader;
		}
		has_changed |= next.symbol != head->symbol || next.offset != head->offset ||
			       next.depends != head->depends || next.from != head->from;
		*head = next;
	}
	return has_changed;
}

static bool is_steady(const struct spin_flow *flow, const struct spin_value *value)
{
	return !(value->depends & (flow->counted | flow->computed)) && !(value->from & (SPIN_CHANGING | SPIN_WALKED));
}

static void conclude_branch(struct spin_flow *flow, int i)
{
	const struct spin_value *condition = &flow->condition[i];
	struct spin_facts *facts = &flow->facts;

	if (!(condition->from & (SPIN_POLLED | SPIN_LOCAL | SPIN_CHANGING)))
		facts->deciding |= condition->depends & ~facts->carried;
	if (!is_steady(flow, condition) || !(condition->from & (SPIN_POLLED | SPIN_LOCAL)))
		return;
	facts->waiting |= SPIN_BIT(i);
	if (condition->from & SPIN_POLLED)
		facts->polling |= SPIN_BIT(i);
	facts->reads[i] = condition->reader;
}

static void conclude(struct spin_flow *flow)
{
	struct spin_facts *facts = &flow->facts;

	facts->computes = flow->computed;
	facts->carried = flow->counted | flow->computed;
	facts->counters = flow->counters;
	facts->has_states = flow->has_states;
	for (spin_set rest = flow->accesses; rest; rest &= rest - 1) {
		int i = spin_set_first(rest);

		if (!is_steady(flow, &flow->address[i]))
			facts->wandering |= SPIN_BIT(i);
	}
	for (spin_set rest = flow->branches; rest; rest &= rest - 1)
		conclude_branch(flow, spin_set_first(rest));
}

/* --- All of it ------------------------------------------------------------------------------- */

static void find_joins(struct spin_flow *flow)
{
	spin_set seen = 0;

	flow->joins = SPIN_BIT(flow->body.head);
	for (spin_set rest = flow->body.steps; rest; rest &= rest - 1) {
		spin_set next = spin_graph_next(flow->graph, spin_set_first(rest), SPIN_BEHIND | SPIN_AT_TARGET);

		flow->joins |= next & seen;
		seen |= next;
	}
}

/* The first turn begins with registers and variables of which nothing is known. */
static void go_first(struct spin_flow *flow, bool has_frame)
{
	flow->has_frame = has_frame;
	flow->word_count = flow->steps_gone = 0;
	flow->is_lost = false;
	flow->facts = (struct spin_facts){ 0 };
	for (int i = 0; i < flow->location_count; i++)
		flow->head.at[i] = initial(i);
	go_round(flow);
}

const struct spin_facts *spin_flow_run(struct spin_flow *flow, const struct spin_body *body)
{
	uint64_t changed;

	flow->body = *body;
	find_joins(flow);
	go_first(flow, true);
	if (!flow->is_lost && changed_locations(flow) >> SPIN_RBP & 1)
		go_first(flow, false);
	changed = changed_locations(flow);
	if (flow->is_lost || changed >> SPIN_RSP & 1)
		return NULL;
	find_carried(flow, changed);
	flow->has_states = find_states(flow, changed);
	for (int turn = 1; turn < TURNS_MAX && flow->has_out && begin_next(flow); turn++)
		go_round(flow);
	if (flow->is_lost)
		return NULL;
	conclude(flow);
	return &flow->facts;
}
