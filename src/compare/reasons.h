/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the second side of a comparison spends more time than the first one, or less: in which waits, and
 * for whom. What follows from another reported reason is not repeated.
 */
#pragma once

#include <stddef.h>

#include "compare/comparison.h"

struct code_changes;
struct text;

struct reason {
	size_t node;                           /* of the comparison's set */
	struct difference ns;                  /* its chance: with that of all that were asked */
	char *function;                        /* in which most of that ran; NULL: unknown, or it is none of running */
	double function_ns, function_error_ns; /* the difference in it */
};

struct reasons {
	struct reason *list; /* by how much it is, most first */
	size_t count;
	size_t unsure_count; /* not in the list: such differences come by chance, too */
};

/* The caller frees it with reasons_fini(). */
void reasons_find(const struct comparison *comparison, struct reasons *out);
void reasons_fini(struct reasons *reasons);

/*
 * Whose running a reason is about that is not part of a wait: a label of threads, or of executions of whatever
 * thread, ""; NULL: it is about something else.
 */
const char *reason_runner(const struct comparison *comparison, const struct reason *reason);

/* Most of the reason ran there, if anywhere. The changes are those of its runner's functions, by where they ran. */
void reason_name(struct reason *reason, const struct code_changes *changes);

/* "slow executions spend 33 ms more in file fcntl, waiting for other apache2 threads". Labels are escaped. */
void reason_put(struct text *out, const struct comparison *comparison, const struct reason *reason);
