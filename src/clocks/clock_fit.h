/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a peer's clock is ahead of this host's at any time, from exchanges (clock_sample.h): straight lines, one for
 * each stretch of time in which the clocks kept their rates, and a bound of the error.
 *
 * No message arrives before it is sent, so an exchange bounds the offset from above at t0, by t1 - t0, and from below at
 * t3, by t2 - t3, however unequal the delays of its two messages are. The lines that keep within all bounds are a
 * polygon (line_set.h), and the one in its middle is taken. Where no line is left, a clock was set or its rate has
 * changed: from there on another line holds. Going through the samples forwards and backwards tells between which
 * two of them that was.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "clocks/clock_sample.h"

enum { CLOCK_SAMPLES_MAX = 1 << 20 };

struct clock_fit;

/*
 * Samples in the order of t0; impossible ones, and those behind the first CLOCK_SAMPLES_MAX, are left out. NULL: there
 * are none.
 */
struct clock_fit *clock_fit_new(const struct clock_sample *samples, size_t count);
void clock_fit_free(struct clock_fit *fit);

/* Rates of clocks differ by so much at most. */
enum { CLOCK_DRIFT_PPM_MAX = 1000 };

/*
 * The peer's clock less this host's at a time of this host's clock, ns. *uncertainty_ns, unless NULL: the error is at most so
 * much. That holds if, besides the changes between pieces, no piece hides more than one that its samples are too coarse
 * to show.
 */
int64_t clock_fit_offset_ns(const struct clock_fit *fit, uint64_t time_ns, uint64_t *uncertainty_ns);

/*
 * Something else shows that the offset is at most (is_upper) or at least so much at a time: a message between programs, for
 * example. Lines that contradict that are left out. False: all do, or a rate changes about then, and nothing is changed.
 */
bool clock_fit_require(struct clock_fit *fit, uint64_t time_ns, int64_t offset_ns, bool is_upper);

/* The time of this host's clock at which the peer's shows peer_ns. */
uint64_t clock_fit_time_ns(const struct clock_fit *fit, uint64_t peer_ns, uint64_t *uncertainty_ns);

struct clock_piece {
	uint64_t begin_ns, end_ns; /* of this host's clock: the first and the last sample that it was made of */
	double drift_ppm;          /* how much faster the peer's clock is */
	double drift_ppm_uncertainty;
	size_t sample_count;
};

/* One more than how often a clock was set or has changed its rate. */
size_t clock_fit_piece_count(const struct clock_fit *fit);
struct clock_piece clock_fit_piece(const struct clock_fit *fit, size_t piece);

/* How many samples were used, and the smallest round trip of them. */
size_t clock_fit_sample_count(const struct clock_fit *fit);
uint64_t clock_fit_round_trip_ns(const struct clock_fit *fit);
