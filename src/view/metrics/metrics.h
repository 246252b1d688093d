/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report that grows, as metrics for Prometheus and whatever else reads its text format or OpenMetrics 1.0. A counter never falls, and
 * what was written once is written again, also when the report has it no more: so rates are right.
 *
 * Owns: the figures of a report that grows, as series of metrics.
 * Used by: cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct metrics;
struct report;
struct text;

/* What a report does not have. */
struct metrics_now {
	uint64_t threads_alive, threads_active;
};

struct metrics *metrics_new(void);
void metrics_free(struct metrics *metrics);

/* A newer report of the same run. */
void metrics_take(struct metrics *metrics, const struct report *report, const struct metrics_now *now);

/* The text format 0.0.4; or OpenMetrics. */
void metrics_put(const struct metrics *metrics, bool is_openmetrics, struct text *out);
