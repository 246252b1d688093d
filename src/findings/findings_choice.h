/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A report of some waits alone. */
#pragma once

struct findings;

/*
 * Makes what is found of waits anew, of those that input.choice has; the rest stays as it is, of all. Rows are those of the whole report,
 * with the same figures: rows of all choices that exclude each other, and of what they leave, add up to those of the whole.
 */
void findings_choose(struct findings *findings);
