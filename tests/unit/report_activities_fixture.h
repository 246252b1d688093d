/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Activities for the reports of report_fixture.h. */
#pragma once

struct report;

/* Those of a script, built-in ones, and one of no thread. */
void report_activities_set(struct report *report);

/* One with this in place of each name, and with the largest numbers. */
void report_activities_set_hostile(struct report *report, const char *evil);
