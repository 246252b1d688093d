/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Goroutines for the reports of report_fixture.h. */
#pragma once

struct report;

/* A program whose goroutines wait for a mutex, and one with more than are examined. */
void report_go_set(struct report *report);

/* Goroutines with this in place of each name, and with the largest numbers. */
void report_go_set_hostile(struct report *report, const char *evil);
