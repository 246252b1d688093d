/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code that has most of the CPU time. */
#pragma once

struct findings;
struct report_frame;

/*
 * The innermost function of the program's own that has, with what it calls, at least half of the CPU time in the report's call
 * paths; *share: its part, from 0 to 1. NULL: there is none. Owned by the report.
 */
const struct report_frame *verdict_busiest(const struct findings *findings, double *share);
