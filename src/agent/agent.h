/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Always on: watches the machine in windows, as often and as long as its budget allows, and at once when something triggers it; adds up
 * what threads did in each (a rollup), and keeps the last traces. Each window is a command of pinch in a process of its own.
 *
 * Owns: watching a machine for ever, within a budget.
 * Used by: cmd.
 */
#pragma once

struct agent_settings;

/* Until a signal ends it. 0 or a negative errno, after a message. */
int agent_run(const struct agent_settings *settings);
