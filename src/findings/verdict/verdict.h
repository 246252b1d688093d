/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report in three lines: which cause holds the program back most, what proves it, what to try next. The first
 * finding says what threads wait for; where most of that time leads to one cause, that is the verdict.
 *
 * Owns: the verdict.
 * Used by: findings.
 */
#pragma once

struct findings;

/* Fills in report.verdict from all other parts of the report. */
void findings_add_verdict(struct findings *findings);
