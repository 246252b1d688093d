/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "agent/agent_budget.h"

static const double bucket_ns = 60e9; /* of the machine's time, of which it holds the share */

/* Before the first window: what one takes on a machine with some hundred processes. */
static const double fixed_first_ns = 700e6, rate_first = 0.2;

/* What is never thought to take less. */
static const double fixed_min_ns = 1e6, rate_min = 1e-6;

static const double wait_max_ns = 1e16; /* some months */

enum { FORGETS = 4 }; /* the last window counts for one part of so many */

void agent_budget_init(struct agent_budget *budget, double machine_share, unsigned int cpu_count,
		       uint64_t window_min_ns, uint64_t window_max_ns, uint64_t now_ns)
{
	*budget = (struct agent_budget){
		.share = machine_share * cpu_count,
		.window_min_ns = window_min_ns,
		.window_max_ns = window_max_ns,
		.filled_ns = now_ns,
		.fixed_ns = fixed_first_ns,
		.rate = rate_first,
	};
	budget->level_ns = bucket_ns * budget->share;
}

static double foreseen_ns(const struct agent_budget *budget, uint64_t window_ns)
{
	return budget->fixed_ns + budget->rate * (double)window_ns;
}

uint64_t agent_budget_window_ns(const struct agent_budget *budget)
{
	double left_ns = bucket_ns * budget->share - budget->fixed_ns;
	double window_ns = left_ns > 0 ? left_ns / budget->rate : 0;

	if (window_ns <= (double)budget->window_min_ns)
		return budget->window_min_ns;
	return window_ns < (double)budget->window_max_ns ? (uint64_t)window_ns : budget->window_max_ns;
}

static void fill(struct agent_budget *budget, uint64_t now_ns)
{
	double full_ns = bucket_ns * budget->share;

	budget->level_ns += (double)(now_ns - budget->filled_ns) * budget->share;
	budget->filled_ns = now_ns;
	if (budget->level_ns > full_ns)
		budget->level_ns = full_ns;
}

uint64_t agent_budget_due_ns(struct agent_budget *budget, uint64_t now_ns)
{
	double full_ns = bucket_ns * budget->share, needed_ns = foreseen_ns(budget, agent_budget_window_ns(budget));
	double wait_ns;

	fill(budget, now_ns);
	/* One that takes more than a minute's share begins when the bucket is full, and is paid for afterwards. */
	if (needed_ns > full_ns)
		needed_ns = full_ns;
	if (budget->level_ns >= needed_ns)
		return now_ns;
	wait_ns = (needed_ns - budget->level_ns) / budget->share;
	return now_ns + (uint64_t)(wait_ns < wait_max_ns ? wait_ns : wait_max_ns) + 1;
}

/* Of what was not foreseen, the fixed part and the rate each get what they had of what was. */
void agent_budget_spend(struct agent_budget *budget, uint64_t window_ns, uint64_t cpu_ns)
{
	double ratio = (double)cpu_ns / foreseen_ns(budget, window_ns);

	budget->spent_ns += cpu_ns;
	budget->level_ns -= (double)cpu_ns;
	/* What is more than was thought is believed at once, what is less little by little. */
	if (ratio < 1)
		ratio = 1 - (1 - ratio) / FORGETS;
	budget->fixed_ns = budget->fixed_ns * ratio > fixed_min_ns ? budget->fixed_ns * ratio : fixed_min_ns;
	budget->rate = budget->rate * ratio > rate_min ? budget->rate * ratio : rate_min;
}
