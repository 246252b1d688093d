/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions by what ran in them, and in what they called. */
#include "report/report.h"
#include "view/page.h"
#include "view/text/text_sections.h"
#include "view/view.h"

/* Below this share of all, and below twice its error, a function gets no row; the first one does. */
static const double share_min = 0.01;

static uint64_t ranked_ns(const struct report_code *code, const struct report_code_time *time)
{
	return code->is_critical ? time->critical_ns : time->cmetric_ns;
}

static bool is_shown(const struct report_code *code, const struct report_code_function *function)
{
	uint64_t all_ns = code->is_critical ? code->critical_ns : code->cmetric_ns;
	uint64_t error_ns = code->is_critical ? function->self.error_ns : function->self.cmetric_error_ns;

	return ranked_ns(code, &function->self) >= share_min * all_ns &&
	       ranked_ns(code, &function->self) > 2 * error_ns;
}

static void show_function(struct page *page, const struct report_code *code,
			  const struct report_code_function *function)
{
	const struct report_line *line = function->lines;

	page_put_duration(page, ranked_ns(code, &function->self), 10);
	page_put_duration(page, ranked_ns(code, &function->total), 10);
	page_put_duration(page, function->self.cpu_ns, 10);
	page_put(page, "  ");
	page_color(page, PAGE_BOLD);
	page_put_function(page, function->name, page_columns_left(page) * 3 / 5);
	page_color(page, PAGE_DIM);
	if (page_columns_left(page) > 12) {
		page_put(page, "  ");
		if (function->line_count && line->file)
			page_put_location(page, line->file, line->line, page_columns_left(page));
		else if (function->module)
			page_put_name(page, function->module, page_columns_left(page));
	}
	page_end_line(page);
}

void text_functions_show(struct page *page, const struct report *report)
{
	const struct report_code *code = &report->code;

	if (!code->function_count)
		return;
	page_heading(page, "Functions by CMetric",
		     code->is_critical ? "self and with callees, while few threads were active; CPU time always"
				       : "self and with callees; no time had few threads active");
	page_color(page, PAGE_DIM);
	page_put(page, "      self     total  CPU self  function");
	page_end_line(page);
	for (size_t i = 0; i < code->function_count; i++)
		if (!i || is_shown(code, &code->functions[i]))
			show_function(page, code, &code->functions[i]);
}
