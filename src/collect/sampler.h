/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a sampling program run on each CPU at a period: at the kernel's own ticks, which cost
 * nothing more, or at timers on the software clock, which also runs where there are no
 * hardware counters.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct bpf_program;
struct sampler;

/*
 * The period nearest to wanted_ns at which sampling disturbs least: a multiple of the kernel's
 * timer tick, or wanted_ns itself when the tick is too coarse for it.
 */
uint64_t sampler_cheap_period(uint64_t wanted_ns);

/* What runs at each timer of the kernel, samples at ticks, and notes for the other one what the timer's time was. */
struct sampler_programs {
	const struct bpf_program *at_expiry, *at_timer;
};

/*
 * at_expiry samples at ticks, and knows how many to leave out. Timers for at_timer are opened too, and cost nothing
 * until sampler_run_timers(): later on nothing may be opened (live/privileges.h).
 */
struct sampler *sampler_follow_ticks(struct sampler_programs programs, unsigned int cpu_count);

bool sampler_is_at_ticks(const struct sampler *sampler); /* NULL: false */

/* Has its timers run at this period from now on, one after the other, beside the ticks if it follows these. */
void sampler_run_timers(struct sampler *sampler, uint64_t period_ns);

/* at_expiry samples at ticks no longer. */
void sampler_leave_ticks(struct sampler *sampler);

/* Starts timers on all CPUs that are there. sampler_note() says what does not work. */
struct sampler *sampler_start_timers(struct sampler_programs programs, uint64_t period_ns, unsigned int cpu_count);
void sampler_stop(struct sampler *sampler);
void sampler_free(struct sampler *sampler);

/* A sentence on CPUs that cannot be sampled, or NULL. Borrowed. */
const char *sampler_note(const struct sampler *sampler);
