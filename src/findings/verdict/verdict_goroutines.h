/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What holds goroutines back: threads of Go's runtime do not show it, for they sleep and run for any of them.
 * Numbers are means over time, from samples.
 */
#pragma once

struct report;
struct report_go_process;
struct report_goroutine_wait;

/* Where goroutines wait most for a lock, or for a channel that takes no more: one or more of them for sure; else NULL. */
const struct report_goroutine_wait *verdict_goroutine_wait(const struct report *report,
							   const struct report_go_process **process);

/*
 * The program whose goroutines could run, one or more of them for sure, and are not let by GOMAXPROCS: neither is there a
 * shortage of CPUs, nor do threads wait for one; else NULL.
 */
const struct report_go_process *verdict_few_processors(const struct report *report);
