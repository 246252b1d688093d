/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Strings kept once each, until all of them are freed.
 *
 * Owns: names that need no debug information: of the kernel, of programs; notes on what lacks names.
 * Used by: symbol.
 */
#pragma once

#include <stddef.h>

struct names;
struct notes;

/* Beyond bytes_max no string is added, and notes, which may be NULL and is borrowed, says so. */
struct names *names_new(size_t bytes_max, struct notes *notes);
void names_free(struct names *names);

/*
 * The kept copy of a string; NULL when there is no space for it, and of NULL and of nothing. Equal
 * strings have one address.
 */
const char *names_get(struct names *names, const char *string);
