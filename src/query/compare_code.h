/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What ran on both sides of a comparison: which functions took more CPU time, of whom. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compare/code_changes.h"
#include "compare/comparison.h"
#include "compare/side_code.h"

struct compare_source;
struct execution;
struct ran_part;
struct reasons;

/* The struct begins zeroed; the sources must live as long. */
struct compare_code {
	struct compare_code_side {
		struct compare_source *source;
		struct ran_part *parts;
		size_t count, capacity;
		double scale; /* of times, to what the comparison's are of */
	} sides[SIDES];
	struct side_code all[SIDES];
	struct code_changes changes; /* of all threads */
};

/* An execution, or a thread's part of a run, and what it was like. */
void compare_code_add(struct compare_code *code, unsigned int side, struct compare_source *source,
		      const struct execution *execution, uint64_t running_ns);

/* All is added: finds the changes. */
void compare_code_find(struct compare_code *code, const struct comparison *comparison);

/* Tells the reasons that are about running in which functions that was. */
void compare_code_name(struct compare_code *code, const struct comparison *comparison, struct reasons *reasons);
void compare_code_fini(struct compare_code *code);
