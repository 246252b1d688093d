/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "types.h"

#include <assert.h>

static void add_enum(struct types *types, const struct report_enum *added)
{
	for (size_t i = 0; i < types->enum_count; i++)
		if (types->enums[i] == added)
			return;
	assert(types->enum_count < TYPES_MAX);
	types->enums[types->enum_count++] = added;
}

/* A part has no place of its own: its members are those of what it is a part of. */
static void add_type(struct types *types, const struct report_type *added, bool is_part)
{
	for (size_t i = 0; i < types->type_count; i++)
		if (types->types[i] == added)
			return;
	assert(types->type_count < TYPES_MAX);
	if (!is_part)
		types->types[types->type_count++] = added;
	for (const struct report_field *field = added->fields; field->name; field++) {
		if (field->type)
			add_type(types, field->type(), field->kind == REPORT_PART);
		if (field->of)
			add_enum(types, field->of());
	}
}

struct types types_from(const struct report_type *root)
{
	struct types types = { 0 };

	add_type(&types, root, false);
	return types;
}
