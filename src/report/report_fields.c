/* SPDX-License-Identifier: GPL-2.0-or-later */
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
#include "report/forms/tables.def"
#include "report/frame.def"
#include "report/all.def"
#include "report/forms/undef.def"
/* clang-format on */
