/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The executions of a trace in groups, as pinch compare makes them in a process of its own: so that the viewer goes on meanwhile, and says
 * the same as the command. The last few groupings are kept. Several threads may ask: while one waits for the command, the others get what
 * there is, and other groupings are made.
 */
#pragma once

#include <stdbool.h>

struct execution_grouping;
struct execution_groups;
struct reply;
struct request;

/* The path is borrowed. opens_files: as of viewers. */
struct execution_groups *execution_groups_new(const char *trace_path, bool opens_files);
void execution_groups_free(struct execution_groups *groups);

/*
 * Those that a request asks for (group_question.h); they stay until execution_groups_release(). NULL: the reply says why there are none, and
 * nothing is to be released. May take minutes. waits: also for what is made for another reader; else NULL, and the reply is untouched.
 */
struct execution_grouping *execution_groups_take(struct execution_groups *groups, const struct request *request,
						 bool waits, struct reply *reply);
void execution_groups_release(struct execution_groups *groups, struct execution_grouping *grouping);
