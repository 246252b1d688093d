/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much of the machine's CPUs watching may take, as a bucket that fills with that share of their time and holds a minute of it: a window
 * of watching begins when what it will take is there, and what it took too much is waited for. So each minute keeps the budget, but for what
 * one window takes more than was foreseen, which the following ones pay. The caller owns the struct.
 */
#pragma once

#include <stdint.h>

struct agent_budget {
	double share; /* of one CPU: 0.01 is ten ms each second */
	uint64_t window_min_ns, window_max_ns;
	/* What is known; CPU time in ns. */
	double level_ns; /* what may be spent; below 0: what has to be waited for */
	uint64_t filled_ns;
	double fixed_ns, rate; /* what a window takes, and each ns of it */
	uint64_t spent_ns;
};

/* machine_share: of all CPUs, 0 to 1. */
void agent_budget_init(struct agent_budget *budget, double machine_share, unsigned int cpu_count,
		       uint64_t window_min_ns, uint64_t window_max_ns, uint64_t now_ns);

/* How long the next window is to be, if it begins as soon as it may. */
uint64_t agent_budget_window_ns(const struct agent_budget *budget);

/* When the next window may begin: now, or later. CLOCK_MONOTONIC. */
uint64_t agent_budget_due_ns(struct agent_budget *budget, uint64_t now_ns);

/* A window of that length took so much CPU time. */
void agent_budget_spend(struct agent_budget *budget, uint64_t window_ns, uint64_t cpu_ns);
