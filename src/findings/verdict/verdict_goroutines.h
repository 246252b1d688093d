/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds goroutines back: threads of Go's runtime do not show it, for they sleep and run for any of them.
 * Numbers are means over time, from samples.
 */
#pragma once

struct report;
struct report_frame;
struct report_go_process;
struct report_goroutine_wait;

/* Where goroutines wait most for a lock, or for a channel that takes no more: one or more of them for sure; else NULL. */
const struct report_goroutine_wait *verdict_goroutine_wait(const struct report *report,
							   const struct report_go_process **process);

/*
 * Where a goroutine waits meanwhile that has the lock: in the function that takes it, for something else, so much of the time as
 * waiting says. NULL: in no such place, as far as samples show.
 */
const struct report_goroutine_wait *verdict_goroutine_holder(const struct report_go_process *process,
							     const struct report_goroutine_wait *lock);

/*
 * The goroutines that wait most in package net, or in what is built on it, for the program's own function *own. NULL: none
 * does.
 */
const struct report_goroutine_wait *verdict_goroutine_network(const struct report *report,
							      const struct report_frame **own);

/*
 * The program whose goroutines could run, one or more of them for sure, and are not let by GOMAXPROCS: neither is there a
 * shortage of CPUs, nor do threads wait for one; else NULL.
 */
const struct report_go_process *verdict_few_processors(const struct report *report);
