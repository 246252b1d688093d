/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pinch trace --snapshot: events in memory as lines. */
#pragma once

struct outside_programs;
struct settings;

/* 0, or a negative errno after a message. */
int trace_snapshot(const struct settings *settings, const struct outside_programs *programs);
