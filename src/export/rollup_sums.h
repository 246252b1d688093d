/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What threads did, added up by what they are called, so that sums of many traces and hosts can be added up again: times and counts exactly,
 * lengths by steps that are the same everywhere (klocks/lengths.h). Of too many rows, the rest of each state is one.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "klocks/lengths.h"

struct rollup_sums;

/* What rows are by; escaped, never NULL, "" where there is none. */
struct rollup_key {
	const char *host;
	const char *process;
	const char *group;  /* of threads: their name, with * for numbers */
	const char *state;  /* "running", "runnable", "lock" */
	const char *object; /* what a wait is for */
	const char *path;   /* where a wait began, innermost function first */
};

struct rollup_row {
	struct rollup_key key;
	uint64_t ns, cmetric_ns;
	uint64_t count, max_ns; /* of states */
	uint32_t lengths[LENGTHS];
};

struct rollup_sums *rollup_sums_new(void);
void rollup_sums_free(struct rollup_sums *sums);

/* A state of that length. The key is copied. */
void rollup_sums_add(struct rollup_sums *sums, const struct rollup_key *key, uint64_t ns, uint64_t cmetric_ns);

/* Rows by time, most first; equal ones by what they are called. Valid until more is added. */
const struct rollup_row *const *rollup_sums_rows(struct rollup_sums *sums, size_t *count);
