/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings kept once each, until all of them are freed. */
#pragma once

#include <stddef.h>

struct names;

/* Beyond bytes_max no string is added. */
struct names *names_new(size_t bytes_max);
void names_free(struct names *names);

/* The kept copy of a string; NULL when there is no room for it. Equal strings have one address. */
const char *names_get(struct names *names, const char *string);
