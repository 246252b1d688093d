/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for strings, so that each is written once; strings are escaped by nobody. Of too many, some have none. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct table;

/* Begins zeroed. */
struct interned {
	struct table *numbers;
	uint32_t count;
};

/* Its number, from 1 on; 0: there are too many. *is_first: it was not there before. */
uint32_t interned_number(struct interned *interned, const char *string, bool *is_first);
void interned_fini(struct interned *interned);
