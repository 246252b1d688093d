/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The nodes of a tree that come first where there is no space for all. */
#pragma once

#include <stddef.h>

/*
 * Of count nodes the count_max that have most time, and what is above them: their places among each other, those of
 * all others are SIZE_MAX. ns: of each node; parents: SIZE_MAX for the root. *kept: how many have a place. The caller
 * frees.
 */
size_t *longest_places(const double *ns, const size_t *parents, size_t count, size_t count_max, size_t *kept);
