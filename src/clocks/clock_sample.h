/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One exchange of messages that reads two clocks, as NTP has it (RFC 5905, section 8; also figure 3.4 of the Barrelfish
 * tracing framework): this host asks at t0 and has the answer at t3, the peer gets the question at t1 and answers at t2.
 *
 * Owns: how far clocks of different hosts and CPUs are apart, and how that is measured.
 * Used by: collect/target, collect, derive, scope, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ns: t0 and t3 of this host's clock, t1 and t2 of the peer's. */
struct clock_sample {
	uint64_t t0, t1, t2, t3;
};

/* Whether two clocks that never run backwards can have shown this. All below want that. */
bool clock_sample_is_possible(const struct clock_sample *sample);

/* The peer's clock less this host's, ns: ((t1 - t0) + (t2 - t3)) / 2; at most half of the round trip off. */
int64_t clock_sample_offset_ns(const struct clock_sample *sample);

/* How long both messages took together, ns: (t3 - t0) - (t2 - t1). */
uint64_t clock_sample_round_trip_ns(const struct clock_sample *sample);

/* Of count samples, at least one, the one with the smallest round trip. */
const struct clock_sample *clock_sample_best(const struct clock_sample *samples, size_t count);
