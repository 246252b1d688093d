/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two reports as folded stacks with two columns, as tools that draw differential flame graphs read them. */
#pragma once

struct report;
struct text;

/*
 * A line each call path, outermost function first: its CMetric in both in us, at any number of active threads; of
 * traces whose samples have no call paths, that of critical slices.
 */
void folded_put_difference(struct text *out, const struct report *first, const struct report *second);
