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

static void add_type(struct types *types, const struct report_type *added, bool is_part)
{
	for (size_t i = 0; i < types->type_count; i++) {
		if (types->types[i] == added) {
			types->is_part[i] &= is_part;
			return;
		}
	}
	assert(types->type_count < TYPES_MAX);
	types->is_part[types->type_count] = is_part;
	types->types[types->type_count++] = added;
	for (const struct report_field *field = added->fields; field->name; field++) {
		if (field->type)
			add_type(types, field->type(), field->kind == REPORT_PART);
		if (field->of)
			add_enum(types, field->of());
	}
}

void types_add(struct types *types, const struct report_type *root)
{
	add_type(types, root, false);
}
