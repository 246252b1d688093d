/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Enums that reports have, and their names in JSON. enums.def has the values. */
#pragma once

#include <stddef.h>

#include "values.h"

/* clang-format off */
#define ENUM_OF(type, meaning) enum type {
#define VALUE(value, name) value,
#define CAUSE(value, name, group) value,
#define COUNT_OF(value) value, value##_LAST = value - 1,
#define END };
#include "report/enums.def"
#include "report/forms/undef_enums.def"

/* "page-fault"; NULL where JSON has null. */
#define ENUM_OF(type, meaning) const char *type##_name(enum type value);
#define VALUE(value, name)
#define CAUSE(value, name, group)
#define COUNT_OF(value)
#define END
#include "report/enums.def"
#include "report/external_enums.def"
#include "report/forms/undef_enums.def"
/* clang-format on */

enum cause_group wait_cause_group(enum wait_cause cause);

/* Such an enum as data. */
struct report_enum {
	const char *name, *meaning;
	size_t count;
	const char *const *names; /* [count]; NULL: null */
};

/* NULL: null, or there is no such value. */
const char *report_enum_name(const struct report_enum *of, unsigned int value);
