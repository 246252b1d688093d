/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths as tools for flame graphs read them. */
#pragma once

struct report;
struct text;

/* "outermost;...;innermost MICROSECONDS" for each path, by its CMetric; those that have none are left out. */
void folded_put(struct text *out, const struct report *report);
