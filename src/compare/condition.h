/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must not be, for use in tests of other programs: a change of a figure from the first side of a
 * comparison to the second, against a limit: "lost.lock > 10 %", "duration >= 5 ms",
 * "wait.lock.count > 100", "edge "fsync" > 1 ms".
 */
#pragma once

#include <stdbool.h>

#include "compare/figures.h"

struct comparison;

struct condition {
	const char *text;    /* as it was given; borrowed */
	unsigned int figure; /* FIGURES: time below what is called so: */
	char *label;
	bool is_less, is_equal_enough; /* < instead of >; <= or >= */
	bool is_share;                 /* of the first side's figure, else in its own unit */
	double limit;
};

/*
 * 0, or -EINVAL after a message, and with an unknown name which there are. The caller
 * frees it with condition_fini().
 */
int condition_parse(const char *text, struct condition *out);
void condition_fini(struct condition *condition);

/* change: what is compared with the limit; a share of 0.1 is 10 %. */
bool condition_holds(const struct condition *condition, const struct comparison *comparison, double *change);
