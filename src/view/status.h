/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one line on the terminal that says tracing goes on. Nothing is shown when standard
 * error is not a terminal. One thread uses it; there is one, like the terminal it is on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct text;

struct status_counts {
	uint64_t time_ns;   /* since tracing began */
	uint64_t threads;   /* alive */
	double parallelism; /* of late, or on average; below 0: not known yet */
	uint64_t events, lost;
};

/* Begins showing if standard error is a terminal; messages then erase the line first. */
void status_start(void);

/* True when the line is due, so that nobody gathers counts without effect: 5 times a second. */
bool status_is_due(void);

/* Draws the line, whether it is due or not. */
void status_show(const struct status_counts *counts);

/* Erases the line until the next status_show(). */
void status_clear(void);

/* Erases it for good. */
void status_stop(void);

/* What status_show() draws, cut to so many columns. */
void status_format(const struct status_counts *counts, uint32_t columns, struct text *text);
