/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes the sampling program run on each CPU at a period, on the software clock that also
 * ticks where there are no hardware counters.
 */
#pragma once

#include <stdint.h>

struct bpf_program;
struct sampler;

/*
 * The period nearest to wanted_ns at which sampling disturbs least: a multiple of the kernel's
 * timer tick, or wanted_ns itself when the tick is too coarse for it.
 */
uint64_t sampler_cheap_period(uint64_t wanted_ns);

/* Starts on all CPUs that are there. What does not work is told by sampler_note(). */
struct sampler *sampler_start(const struct bpf_program *program, uint64_t period_ns,
			      unsigned int cpu_count);
void sampler_stop(struct sampler *sampler);
void sampler_free(struct sampler *sampler);

/* A sentence on CPUs that cannot be sampled, or NULL. Borrowed. */
const char *sampler_note(const struct sampler *sampler);
