/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pinch view of what happens while it is looked at: a process of its own records it, as pinch record does. */
#pragma once

struct inheritance;
struct settings;

/* The targets of the settings, or what stands from argv[rest] on: a command or a scope. Returns an exit status, after a message. */
int view_live(struct settings *settings, struct inheritance *inheritance, int argc, char **argv, int rest);
