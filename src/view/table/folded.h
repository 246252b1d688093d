/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths as tools for flame graphs read them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report;
struct report_frame;
struct text;

/* "outermost;...;innermost MICROSECONDS" for each path, by its CMetric; those that have none are left out. */
void folded_put(struct text *out, const struct report *report);

/* "outermost;...;innermost" of frames, innermost first. */
void folded_put_stack(struct text *out, const struct report_frame *frames, size_t count);

/* Microseconds, as lines have them; 0: too little for a line. */
uint64_t folded_us(uint64_t ns);
