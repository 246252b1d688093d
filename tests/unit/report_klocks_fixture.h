/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks of the kernel for the reports of report_fixture.h. */
#pragma once

struct report;

/* A process that faults while one of its threads maps memory; spins by interrupts; what found no space. */
void report_klocks_set(struct report *report);

/* The same with acquisitions, of locks that nobody waited for, too. */
void report_klocks_set_held(struct report *report);

/* A lock that is called evil wherever it has a name, with the largest numbers. */
void report_klocks_set_hostile(struct report *report, const char *evil);
