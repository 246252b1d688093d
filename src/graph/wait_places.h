/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where waits are whose call path was not recorded: where all others are that are called alike otherwise, if these are
 * all at one place.
 */
#pragma once

struct wait_places;

struct wait_places *wait_places_new(void);
void wait_places_free(struct wait_places *places);

/* A wait that is called what is there. Both are copied. */
void wait_places_add(struct wait_places *places, const char *what, const char *place);

/* Lives as long as the places do. NULL: none is known, or several are. */
const char *wait_places_find(const struct wait_places *places, const char *what);
