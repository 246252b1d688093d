/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of a report in one, for spreadsheets and data bases.
 *
 * Owns: the report as tables for other programs.
 * Used by: show, cmd.
 */
#pragma once

struct report;
struct text;

/*
 * By RFC 4180, with one line of names. The first column says what a row is of: thread, path, wait, lock,
 * file or socket; what means nothing of it is empty. A text that a spreadsheet would take for a formula
 * has an apostrophe before it.
 */
void csv_put(struct text *out, const struct report *report);
