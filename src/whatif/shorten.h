/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes shorter when waits do: for one that no thread ends, that is itself; for one that a thread
 * ends, what that one did since it has been at it, and whom it waited for then, and so on.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct lives;

struct shortening {
	const bool *is_chosen;    /* of each of lives->waits */
	const uint64_t *since_ns; /* of each step, as holds_since() has it */
	double scale;
};

/* Sets the length of each step. */
void shorten(const struct lives *lives, const struct shortening *how, uint64_t *lengths_ns);
