/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions, or call paths, by what ran in them on one side of a comparison: CPU time or CMetric, with standard
 * errors. Functions of both sides are the same if they have the same name: builds of a program have several files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct report_frame;
struct table;

struct code_time {
	double ns, error_ns;
};

struct side_function {
	const char *name;
	bool is_own; /* of the program itself, not of its libraries or the kernel */
	uint64_t samples;
	struct code_time self, total; /* total: with what it called */
};

struct side_code {
	struct side_function *functions;
	size_t count, capacity;
	double absent_error_ns; /* of a function that is not there: one without a sample may have run */
	double freedom;         /* degrees of it that the errors have; INFINITY: those of a normal deviate */
	bool is_cut;            /* what has least is not there */
	struct arena *arena;
	struct table *by_name;
};

/* The caller ends it with side_code_fini(). */
void side_code_init(struct side_code *code);
void side_code_fini(struct side_code *code);

/* The one of that name, made if there is none yet. Valid until the next call. The name is copied. */
struct side_function *side_code_get(struct side_code *code, const char *name);

/* NULL: there is none. */
const struct side_function *side_code_find(const struct side_code *code, const char *name);

/* The frame's function, or module+0xoffset; valid until side_code_fini(). */
const char *side_code_name(struct side_code *code, const struct report_frame *frame);

/*
 * The standard error of what has samples of all_samples with the same weight, which stand for ns: of a share, with two
 * samples added on both sides (Agresti and Coull, 1998).
 */
double side_code_error_ns(double ns, uint64_t samples, uint64_t all_samples);
