/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listening sockets for the reports of report_fixture.h. */
#pragma once

struct report;

/* A queue that overflows, one that several processes have, and one where nobody ever waited. */
void report_listeners_set(struct report *report);

/* A socket with this in place of each name, and with the largest numbers. */
void report_listeners_set_hostile(struct report *report, const char *evil);
