/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/trace/comparison_code.h"

#include <math.h>

#include "base/text.h"
#include "base/whole.h"
#include "compare/code_changes.h"
#include "compare/comparison.h"

enum { ROWS_MAX = 10, CELL_COLUMNS = 10 };

#define HEAD_SELF "  self: change           with callees:"
#define HEAD_PATH "  "


static void put_time(struct text *out, const char *sign, double ns)
{
	struct text cell = { 0 };

	text_put(&cell, sign);
	text_put_duration(&cell, whole(fabs(ns) + 0.5));
	text_printf(out, "%*s", CELL_COLUMNS, cell.bytes);
	text_fini(&cell);
}

static void put_change(struct text *out, const struct code_difference *d)
{
	struct text error = { 0 };

	if (!d->is_significant) {
		text_printf(out, "%*s%12s", CELL_COLUMNS, "-", "");
		return;
	}
	put_time(out, d->delta_ns < 0 ? "-" : "+", d->delta_ns);
	text_put_duration(&error, whole(d->delta_error_ns + 0.5));
	text_printf(out, " ± %-9s", error.bytes);
	text_fini(&error);
}

static void put_row(struct text *out, const struct code_change *change, bool has_total)
{
	const struct code_difference *d = has_total ? &change->total : &change->self;

	text_put(out, "  ");
	if (has_total)
		put_change(out, &change->self);
	put_time(out, "", d->ns[FIRST_SIDE]);
	put_time(out, "", d->ns[SECOND_SIDE]);
	put_change(out, d);
	text_put_escaped(out, change->name);
	text_put(out, "\n");
}

/* What a library function called is shown under the name of the program's own that called it. */
static bool is_row(const struct code_change *change)
{
	return change->self.is_significant || change->is_own;
}

static void put_changes(struct text *out, const struct code_changes *changes, const char *title, const char *unit,
			bool has_total)
{
	size_t rows = 0;

	if (!changes || (!changes->count && !changes->unsure_count))
		return;
	text_printf(out, "\n%s  (%s; ± standard error)\n", title, unit);
	if (changes->count)
		text_printf(out, "%s     first    second    change            %s\n", has_total ? HEAD_SELF : HEAD_PATH,
			    has_total ? "function" : "call path");
	for (size_t i = 0; i < changes->count; i++) {
		if (is_row(&changes->list[i]) && rows++ < ROWS_MAX)
			put_row(out, &changes->list[i], has_total);
	}
	if (rows > ROWS_MAX)
		text_printf(out, "    … %zu more\n", rows - ROWS_MAX);
	if (changes->unsure_count)
		text_printf(out, "    %zu more may be chance of sampling (p of 0.05 or more)\n", changes->unsure_count);
}

void comparison_code_put_text(struct text *out, const struct comparison *comparison, const struct comparison_code *code)
{
	const char *unit = !comparison->is_of_runs     ? "mean of an execution"
			   : comparison->is_per_second ? "of a second"
						       : "of the run";

	put_changes(out, code->cpu, "Functions by CPU time", unit, true);
	put_changes(out, code->cmetric, "Functions by CMetric", unit, true);
	put_changes(out, code->paths, "Call paths by CMetric", unit, false);
	if (code->configurations)
		configurations_put_text(out, code);
}
