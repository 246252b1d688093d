/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace in the terminal UI: its report, and graphs that are made when they are first examined. */
#pragma once

struct replay;
struct settings;

/* Until the user has seen enough. 0, or a negative errno after a message. */
int report_tui(const struct settings *settings, const char *path, struct replay *replay);
