/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What executions of two groups spent of a time since their beginnings, on average, how far that may be off, and whether it differs by chance. */
#pragma once

struct execution_grouping;
struct reply;
struct request;
struct viewed;

/*
 * Parameters: group and other, and from and to in ns. Of each group those count that are drawn together. Chances are those of pinch
 * compare: Welch's t-test, corrected for all states by Holm's method (doc/metrics.md).
 */
void execution_answer_means(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply);
