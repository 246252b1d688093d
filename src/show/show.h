/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A report to where the user wants it: the terminal, files.
 *
 * Owns: where a report goes: the terminal, files, the terminal UI.
 * Used by: live, cmd.
 */
#pragma once

#include <stdbool.h>

struct fold_rules;
struct report;
struct settings;

/* Whether the outputs can be written at all. 0, or a negative errno after a message. */
int show_check(const struct settings *settings);

/* Whether there is anything for show_report() to show. */
bool show_is_asked(const struct settings *settings);

/* 0, or a negative errno after a message. */
int show_report(const struct settings *settings, const struct fold_rules *fold, const struct report *report);
