/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an execution, or a whole run, is like as a row of numbers: how long it took, how much of that was spent
 * how, how often it waited, by cause, and what was counted besides (DepGraph, section IV-A).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "states/state.h"

struct features;
struct text;

/* Times are in nanoseconds. */
enum {
	FIGURE_DURATION,
	FIGURE_SHARES,                            /* time, by state_share() */
	FIGURE_WAITS = FIGURE_SHARES + SHARES,    /* how many, by enum wait_cause */
	FIGURE_TRANSFERS = FIGURE_WAITS + CAUSES, /* calls that read or wrote; of spans only, as the next three */
	FIGURE_READ_BYTES,
	FIGURE_WRITTEN_BYTES,
	FIGURE_FAULTS,
	FIGURE_CALLS, /* that had to wait to read or to write */
	FIGURE_CALL_BYTES,
	FIGURE_WAKES,
	FIGURE_INTERRUPTS, /* these and what follows, with --system only */
	FIGURE_SOFTIRQS,
	FIGURE_BLOCKS,
	FIGURE_BLOCK_BYTES,
	FIGURES,
};

static inline bool figure_is_time(unsigned int figure)
{
	return figure < FIGURE_WAITS;
}

static inline bool figure_is_bytes(unsigned int figure)
{
	return figure == FIGURE_READ_BYTES || figure == FIGURE_WRITTEN_BYTES || figure == FIGURE_CALL_BYTES ||
	       figure == FIGURE_BLOCK_BYTES;
}

/* "duration", "cpu.running", "lost.lock", "wait.lock.count", "io.bytes". */
void figure_put_name(struct text *out, unsigned int figure);

/* FIGURES: no figure is called so. */
unsigned int figure_find(const char *name);

/* Adds those of an execution. */
void figures_add(double values[FIGURES], const struct features *features);
