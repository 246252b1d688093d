/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report is made of, each once: a struct or an enum comes before those that it leads to. */
#pragma once

#include <stddef.h>

#include "report/report_fields.h"

enum { TYPES_MAX = 64 };

struct types {
	const struct report_type *types[TYPES_MAX];
	const struct report_enum *enums[TYPES_MAX];
	size_t type_count, enum_count;
};

/* All that are reached from root, which comes first. */
struct types types_from(const struct report_type *root);
