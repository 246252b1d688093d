/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lost time by its causes: each wait of the report is followed along the chain of those who were waited for to what does not
 * wait for a traced thread (doc/metrics.md, "Blame"). Owns what it hands out, in the arena of the findings.
 *
 * Owns: lost time by cause.
 * Used by: findings/patterns, findings/verdict, findings.
 */
#pragma once

#include <stddef.h>

struct blame;
struct findings;
struct report_frame;
struct report_lock;
struct report_root;
struct report_wait;

/* What a cause took of the time of some waits. */
struct blame_part {
	const struct report_root *root;
	double ns; /* that is not idle */
	const struct blame_part *next;
};

/* Fills in report.blame, when all waits and the balance are there. */
void findings_add_blame(struct findings *findings);

/* The same anew, of the waits that are chosen alone, whose rows are in report.waits by then. What spins is not in it. */
void findings_choose_blame(struct findings *findings);

/* What is left of it but the report; NULL is fine. */
void blame_free(struct blame *blame);

/* The causes of a row's time, most first; together they have what of it was not idle. NULL: the row is too small. */
const struct blame_part *blame_of_wait(struct findings *findings, const struct report_wait *wait);
const struct blame_part *blame_of_lock(struct findings *findings, const struct report_lock *lock);

/* That of code on such a path; NULL: nobody waited for it, or there are no frames. */
const struct report_root *blame_find_code(struct findings *findings, const struct report_frame *frames, size_t count);

/* "f (a.c:3), called by g"; NULL: it is not known. */
const char *blame_place(struct findings *findings, const struct report_root *root);

/* All of two lists. */
const struct blame_part *blame_join(struct findings *findings, const struct blame_part *a, const struct blame_part *b);
