/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Event loops for the reports of report_fixture.h. */
#pragma once

struct report;

/* A loop that one function holds up, and one whose iterations are short. */
void report_loops_set(struct report *report);

/* A loop with this in place of each name, and with the largest numbers. */
void report_loops_set_hostile(struct report *report, const char *evil);
