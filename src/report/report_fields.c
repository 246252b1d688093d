/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of the lines in .def files: a function a struct, which the lines of other structs name. */
#include "report/report_fields.h"

#include <string.h>

#include "report/report.h"

const struct report_field *report_field_named(const struct report_type *type, const char *name)
{
	for (const struct report_field *field = type->fields; field->name; field++)
		if (!strcmp(field->name, name))
			return field;
	return NULL;
}

/* clang-format off */
#define ENUM_OF(type, meaning) const struct report_enum *type##_names(void);
#define VALUE(value, name)
#define CAUSE(value, name, group)
#define COUNT_OF(value)
#define END
#include "report/enums.def"
#include "report/external_enums.def"
#include "report/undef_enums.def"

#define BEGIN(struct_name, means, on_one_line, bare)                                    \
	const struct report_type *struct_name##_type(void);                             \
	const struct report_type *struct_name##_type(void)                              \
	{                                                                               \
		typedef struct struct_name self;                                        \
		static const char type_name[] = #struct_name, type_meaning[] = means;   \
		enum { IS_ON_ONE_LINE = on_one_line, IS_BARE = bare };                  \
		static const struct report_field fields[] = {
#define END                                                                             \
			{ 0 },                                                          \
		};                                                                      \
		static const struct report_type type = {                                \
			.name = type_name,                                              \
			.meaning = type_meaning,                                        \
			.size_bytes = sizeof(self),                                     \
			.fields = fields,                                               \
			.is_on_one_line = IS_ON_ONE_LINE,                               \
			.is_bare = IS_BARE,                                             \
		};                                                                      \
		return &type;                                                           \
	}

#define ONE(KIND, place, json_name, version, means, ...)                                    \
	{ .name = json_name, .kind = REPORT_##KIND, .at = offsetof(self, place), .since = version, .meaning = means, __VA_ARGS__ },
#define MANY(KIND, member, count, json_name, version, means, ...)                           \
	ONE(KIND, member, json_name, version, means, .is_list = true, .count_at = offsetof(self, count), \
	    .size_bytes = sizeof(*((self *)0)->member), __VA_ARGS__)

#define STRUCT(type, meaning) BEGIN(type, meaning, false, false)
#define ROW(type, meaning) BEGIN(type, meaning, true, false)
#define BARE(type, meaning) BEGIN(type, meaning, true, true)
#define FIELD(KIND, member, since, meaning) ONE(KIND, member, #member, since, meaning,)
#define COLUMN(KIND, member, words, since, meaning) ONE(KIND, member, #member, since, meaning, .title = words)
#define OPTIONAL(KIND, member, flag, since, meaning) \
	ONE(KIND, member, #member, since, meaning, .is_optional = true, .flag_at = offsetof(self, flag))
#define ENUM(type, member, since, meaning) ONE(ENUM, member, #member, since, meaning, .of = type##_names)
#define ENUM_OR_NULL(type, member, since, meaning) \
	ONE(ENUM_OR_NULL, member, #member, since, meaning, .of = type##_names)
#define OBJECT(type_name, member, since) \
	ONE(OBJECT, member, #member, since, NULL, .type = type_name##_type)
#define OBJECT_OR_NULL(type_name, member, since) \
	ONE(OBJECT_OR_NULL, member, #member, since, NULL, .type = type_name##_type)
#define PART(type_name, member) ONE(PART, member, #member, 0, NULL, .type = type_name##_type)
#define LIST(type_name, member, count, since, meaning) \
	MANY(OBJECT, member, count, #member, since, meaning, .type = type_name##_type)
#define VALUES(KIND, member, count, since, meaning) MANY(KIND, member, count, #member, since, meaning,)
#define STACK(since, meaning) \
	MANY(OBJECT, frames, frame_count, "stack", since, meaning, .type = report_frame_type)
#define NAMES(since, meaning) MANY(NAMES, frames, frame_count, "names", since, meaning,)
#define AT(KIND, place, name, since, meaning) ONE(KIND, place, name, since, meaning,)
#define HIDDEN(...)
#include "report/frame.def"
#include "report/all.def"
#include "report/undef.def"
/* clang-format on */
