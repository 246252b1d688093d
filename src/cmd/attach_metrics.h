/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracing that tells its figures as metrics while it goes on: pinch attach --metrics. */
#pragma once

struct attach_metrics;
struct outcome;
struct tracing;

/* Listens: comes before tracing_start(), which gives up what that takes. 0 or a negative errno, after a message. */
int attach_metrics_open(struct tracing *tracing, const struct outcome *outcome, const char *address,
			struct attach_metrics **out);
void attach_metrics_close(struct attach_metrics *metrics);

/* Traces until the tracing is to end. */
void attach_metrics_trace(struct attach_metrics *metrics);
