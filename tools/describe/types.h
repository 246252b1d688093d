/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What documents are made of, each once: a struct or an enum comes before those that it leads to. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/report_fields.h"

enum { TYPES_MAX = 128 };

struct types {
	const struct report_type *types[TYPES_MAX];
	const struct report_enum *enums[TYPES_MAX];
	bool is_part[TYPES_MAX]; /* by type: nowhere more than that, its members are those of what it is a part of */
	size_t type_count, enum_count;
};

/* All that are reached from root, which comes first. */
void types_add(struct types *types, const struct report_type *root);
