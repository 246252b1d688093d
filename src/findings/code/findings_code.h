/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where threads ran, by name: what functions and call paths are made of.
 *
 * Owns: the parts of a report that are made of samples.
 * Used by: findings/patterns, findings/verdict, findings.
 */
#pragma once

#include "account/code_shares.h"
#include "findings/parts/code_path_key.h"
#include "findings/parts/findings_internal.h"

/* Fills in report.code, and report.paths anew, if samples have call paths. */
void findings_add_code(struct findings *findings);

/* findings_loops.c: fills in report.event_loops, when it is known which samples count. */
void findings_add_loops(struct findings *findings);

/* Samples at one place by one call path. */
struct code_place {
	const struct code_sample *sample; /* NULL: beyond those that are named */
	double ns[CODE_QUANTITIES];
	const struct report_frame *frames; /* innermost first */
	size_t frame_count;
	enum stack_end end;
};

struct code_places {
	struct code_shares *shares;
	struct code_place *list; /* in the order of code_shares_sample() */
	size_t count;
	enum code_quantity quantity; /* what rows rank by */
};

/* code_places.c: all that has been sampled by now. */
struct code_places *code_places_new(struct findings *findings);
void code_places_free(struct code_places *places);

/* The sum is finished: nothing may be added to it after this. */
struct report_code_time findings_code_time(const struct code_places *places, struct code_sum *sum);


/* How a function is called where it has no line of its own. */
const char *findings_code_name(struct findings *findings, const struct report_frame *frame);

/* findings_code_stacks.c: fills in report.code.stacks. */
void findings_add_code_stacks(struct findings *findings, const struct code_places *places);

/* findings_collections.c: fills in report.code.collections. */
void findings_add_collections(struct findings *findings, const struct code_places *places);

/* findings_code_paths.c: fills in report.paths. */
void findings_add_code_paths(struct findings *findings, const struct code_places *places);
