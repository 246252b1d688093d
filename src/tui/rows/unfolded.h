/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which rows of a page are unfolded, by their keys, which outlive the rows: those that begin so, until the
 * user wants something else. Owns what it holds.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct unfolded;

struct unfolded *unfolded_new(void);
void unfolded_free(struct unfolded *unfolded);

bool unfolded_has(const struct unfolded *unfolded, uint64_t key, bool begins_so);
void unfolded_set(struct unfolded *unfolded, uint64_t key, bool is_unfolded);

/* All rows, those that are yet to come included; or none. */
void unfolded_set_all(struct unfolded *unfolded, bool is_unfolded);
bool unfolded_is_all(const struct unfolded *unfolded);
