/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Years of windows with what they really took, on machines of all sizes: what is spent keeps the budget. */
#include <stdlib.h>

#include "agent/agent_budget.h"
#include "test.h"

static const uint64_t second_ns = 1000000000, minute_ns = 60000000000;

enum { WINDOWS = 20000 };

/* What happened, beside what was foreseen. */
struct simulated {
	struct agent_budget budget;
	uint64_t now_ns, spent_ns, window_max_ns, cost_max_ns;
};

static uint64_t cost_of(uint64_t window_ns, double fixed_ns, double rate)
{
	double noise = 0.5 + drand48();

	return (uint64_t)((fixed_ns + rate * (double)window_ns) * noise);
}

/* One window, from now to its end. */
static void step(struct simulated *run, double fixed_ns, double rate)
{
	uint64_t due_ns = agent_budget_due_ns(&run->budget, run->now_ns), window_ns, cost_ns;

	CHECK_THAT(due_ns, >=, run->now_ns);
	run->now_ns = due_ns;
	/* But for a rounding. */
	CHECK_THAT(agent_budget_due_ns(&run->budget, run->now_ns), <=, run->now_ns + 1000);
	window_ns = agent_budget_window_ns(&run->budget);
	CHECK_THAT(window_ns, >=, run->budget.window_min_ns);
	CHECK_THAT(window_ns, <=, run->budget.window_max_ns);
	cost_ns = cost_of(window_ns, fixed_ns, rate);
	run->now_ns += window_ns;
	run->spent_ns += cost_ns;
	if (cost_ns > run->cost_max_ns)
		run->cost_max_ns = cost_ns;
	agent_budget_spend(&run->budget, window_ns, cost_ns);
}

/* In any time, no more than its share, a minute's share that was saved, and what one window took. */
static void check_spent(const struct simulated *run, double share)
{
	double allowed_ns = share * (double)(run->now_ns + minute_ns) + (double)run->cost_max_ns;

	CHECK_THAT((double)run->spent_ns, <=, allowed_ns);
	CHECK_EQUAL(run->spent_ns, run->budget.spent_ns);
}

TEST(what_is_spent_keeps_the_budget)
{
	static const double shares[] = { 0.001, 0.005, 0.05, 1 };
	static const unsigned int cpus[] = { 1, 2, 64, 256 };

	srand48(1);
	for (size_t i = 0; i < 4; i++)
		for (size_t k = 0; k < 4; k++) {
			struct simulated run = { .now_ns = 0 };

			agent_budget_init(&run.budget, shares[i], cpus[k], second_ns, 10 * second_ns, 0);
			for (int window = 0; window < WINDOWS; window++) {
				/* The load changes from time to time. */
				double rate = window / 1000 % 3 ? 0.1 : 1.5;

				step(&run, 600e6, rate);
				check_spent(&run, shares[i] * cpus[k]);
			}
		}
}

TEST(a_budget_that_is_there_is_used)
{
	struct simulated run = { .now_ns = 0 };
	double share = 0.005 * 64;

	srand48(2);
	agent_budget_init(&run.budget, 0.005, 64, second_ns, 10 * second_ns, 0);
	for (int window = 0; window < WINDOWS; window++)
		step(&run, 600e6, 0.5);
	CHECK_THAT((double)run.spent_ns, >, 0.7 * share * (double)run.now_ns);
}

TEST(one_window_more_than_a_minute_has_is_waited_for)
{
	struct agent_budget budget;
	uint64_t due_ns;

	agent_budget_init(&budget, 0.005, 2, second_ns, 10 * second_ns, 0);
	CHECK_EQUAL(agent_budget_due_ns(&budget, 0), 0);
	CHECK_EQUAL(agent_budget_window_ns(&budget), second_ns);
	agent_budget_spend(&budget, second_ns, 3 * second_ns);
	due_ns = agent_budget_due_ns(&budget, second_ns);
	/* 0.6 s are a minute's share: 2.4 s are owed, and the bucket has to be full again. */
	CHECK_THAT(due_ns, >, 298 * second_ns);
	CHECK_THAT(due_ns, <, 302 * second_ns);
}
