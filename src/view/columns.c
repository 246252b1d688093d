/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/columns.h"

#include <stdbool.h>

#include "report/report_fields.h"
#include "view/page.h"

const struct report_field *column_of(const struct report_type *type, size_t order)
{
	for (const struct report_field *field = type->fields; order && field->name; field++)
		if (field->title && !--order)
			return field;
	return NULL;
}

const void *column_figure(const struct report_field *column, const struct report_type *type, const void *item)
{
	const struct report_field *field = report_field_named(type, column->name);

	if (!field || (field->is_optional && !*(const bool *)((const char *)item + field->flag_at)))
		return NULL;
	return (const char *)item + field->at;
}

void column_put(struct page *page, const struct report_field *column, const struct report_type *type, const void *item,
		int width)
{
	const void *figure = column_figure(column, type, item);

	if (!figure)
		page_printf(page, "%*s", width, "");
	else if (column->kind == REPORT_NS)
		page_put_duration(page, *(const uint64_t *)figure, width);
	else
		page_put_count(page, *(const uint64_t *)figure, width);
}
