/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/script_table.h"

#include <math.h>

const char *table_unit_name(enum table_unit unit)
{
	static const char *const names[UNITS] = {
		[UNIT_NS] = "ns",
		[UNIT_BYTES] = "bytes",
		[UNIT_COUNT] = "count",
	};

	return names[unit];
}

const char *table_view_name(enum table_view view)
{
	static const char *const names[TABLE_VIEWS] = {
		[VIEW_TABLE] = "table",
		[VIEW_BARS] = "bars",
		[VIEW_LINE] = "line",
		[VIEW_HISTOGRAM] = "histogram",
	};

	return names[view];
}

bool table_cell_is_finite(const struct table_cell *cell)
{
	return cell->type == CELL_INTEGER || (cell->type == CELL_REAL && isfinite(cell->real));
}
