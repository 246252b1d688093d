/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executions of a trace for the page that compares groups of them. A group, which the parameter group names, has lanes: 0 is all of its
 * executions together, those behind it are its executions by their beginnings. Their times count from the beginning of each.
 */
#pragma once

struct execution_grouping;
struct reply;
struct request;
struct viewed;

/* What executions may be of: spans and how many of each, causes of cycles; and the figures that may tell groups apart. */
void execution_answer_choices(const struct viewed *viewed, struct reply *reply);

/* All executions with their groups, and the sums of each group. */
void execution_answer_list(struct execution_grouping *grouping, const struct viewed *viewed,
			   const struct request *request, struct reply *reply);

/* How much of lane 0 is found, which this goes on with: "is_ready" and "done". */
void execution_answer_drawn(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply);

/* Tiles of lanes: shift, index and lanes, as of those of threads. */
void execution_answer_tiles(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply);

/* How lanes spent a time since their beginnings: from, to and lanes, as of those of threads. */
void execution_answer_stretch(struct execution_grouping *grouping, const struct viewed *viewed,
			      const struct request *request, struct reply *reply);

/* What an execution did at a time: lane and time. Times of the answer are those of the trace. */
void execution_answer_slice(struct execution_grouping *grouping, const struct viewed *viewed,
			    const struct request *request, struct reply *reply);
