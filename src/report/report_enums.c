/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of names for each enum of enums.def, and two functions that give it. */
#include "report/report_enums.h"

const char *report_enum_name(const struct report_enum *of, unsigned int value)
{
	return value < of->count ? of->names[value] : NULL;
}

/* clang-format off */
#define ENUM_OF(type, means)                                                            \
	const struct report_enum *type##_names(void);                                   \
	const char *type##_name(enum type value)                                        \
	{                                                                               \
		return report_enum_name(type##_names(), value);                         \
	}                                                                               \
	const struct report_enum *type##_names(void)                                    \
	{                                                                               \
		static const char enum_name[] = #type, meaning[] = means;               \
		static const char *const names[] = {
#define VALUE(value, name) [value] = name,
#define CAUSE(value, name, group) VALUE(value, name)
#define COUNT_OF(value)
#define END                                                                             \
		};                                                                      \
		static const struct report_enum self = {                                \
			enum_name, meaning, sizeof(names) / sizeof(*names), names,      \
		};                                                                      \
		return &self;                                                           \
	}
#include "report/enums.def"
#include "report/external_enums.def"
#include "report/forms/undef_enums.def"

#define ENUM_OF(type, meaning)
#define VALUE(value, name)
#define CAUSE(value, name, group) [value] = group,
#define COUNT_OF(value)
#define END
static const enum cause_group groups[] = {
#include "report/enums.def"
};
/* clang-format on */

enum cause_group wait_cause_group(enum wait_cause cause)
{
	return groups[cause];
}
