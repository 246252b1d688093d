/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "compare/reported_code.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "compare/side_code.h"
#include "report/report.h"
#include "stacks/fold.h"

/* A sample has no more CMetric than CPU time. */
static double absent_error_ns(const struct report_code *code)
{
	return code->samples ? M_SQRT2 * code->cpu_ns / code->samples : 0;
}

/* A function of the report has no frame of its own. */
static bool is_own(const struct report_code_function *row, const struct fold_rules *fold)
{
	const struct report_frame frame = {
		.function = row->name,
		.module = row->module,
		.file = row->line_count ? row->lines[0].file : NULL,
		.is_kernel = row->module && !strcmp(row->module, "[kernel]"),
	};

	return !fold_is_plumbing(fold, &frame);
}

void reported_code_add_functions(struct side_code *code, const struct report *report, const struct fold_rules *fold)
{
	const struct report_code *from = &report->code;

	for (size_t i = 0; i < from->function_count; i++) {
		const struct report_code_function *row = &from->functions[i];
		struct side_function *function = side_code_get(code, row->name);

		function->is_own |= is_own(row, fold);
		function->samples += row->total.samples;
		function->self.ns += row->self.cmetric_ns;
		function->total.ns += row->total.cmetric_ns;
		function->self.error_ns = hypot(function->self.error_ns, row->self.cmetric_error_ns);
		function->total.error_ns = hypot(function->total.error_ns, row->total.cmetric_error_ns);
	}
	code->absent_error_ns = absent_error_ns(from);
	code->is_cut = from->function_count == REPORT_CODE_FUNCTIONS_MAX;
}

/* --- Call paths --------------------------------------------------------------------------------- */

static size_t find_own(const struct report_path *path, const struct fold_rules *fold, size_t from, const char *but)
{
	while (from < path->frame_count &&
	       (!path->frames[from].function || fold_is_plumbing(fold, &path->frames[from]) ||
		(but && !strcmp(path->frames[from].function, but))))
		from++;
	return from;
}

/* What is none of the program's own is called after where it ran. */
static void put_name(struct text *out, struct side_code *code, const struct report_path *path,
		     const struct fold_rules *fold)
{
	size_t own = find_own(path, fold, 0, NULL), caller;

	if (own == path->frame_count) {
		text_put(out, side_code_name(code, &path->frames[0]));
		return;
	}
	text_put(out, path->frames[own].function);
	caller = find_own(path, fold, own + 1, path->frames[own].function);
	if (caller < path->frame_count)
		text_printf(out, " < %s", path->frames[caller].function);
}

void reported_code_add_paths(struct side_code *code, const struct report *report, const struct fold_rules *fold)
{
	struct text name = { 0 };

	for (size_t i = 0; i < report->path_count; i++) {
		const struct report_path *path = &report->paths[i];
		struct side_function *function;

		if (!path->samples || !path->frame_count)
			continue;
		name.length = 0;
		put_name(&name, code, path, fold);
		function = side_code_get(code, name.bytes);
		function->is_own = true;
		function->samples += path->samples;
		function->self.ns += path->cmetric_ns;
		function->self.error_ns = hypot(function->self.error_ns, path->error_ns);
		function->total = function->self;
	}
	text_fini(&name);
	code->absent_error_ns = absent_error_ns(&report->code);
	code->is_cut = report->totals.paths > report->path_count;
}
