/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/trace/comparison_code.h"

#include "base/text.h"
#include "compare/configurations.h"
#include "report/report.h"

enum { RUNS_A_LINE = 4, NAME_COLUMNS = 20, GROUPS_MAX = 20 };

/* As wide as columns, with room for those bytes that take none. */
static void put_name(struct text *out, const char *name)
{
	struct text escaped = { 0 };
	size_t columns;

	text_put_escaped(&escaped, *name ? name : "unnamed");
	columns = text_columns(escaped.bytes);
	text_printf(out, "  %s%*s", escaped.bytes, columns < NAME_COLUMNS ? (int)(NAME_COLUMNS - columns) : 0, "");
	text_fini(&escaped);
}

static void put_cell(struct text *out, uint64_t ns, uint64_t all_ns, uint64_t threads)
{
	struct text duration = { 0 };

	if (!threads) {
		text_printf(out, "%25s", "-");
		return;
	}
	text_put_duration(&duration, ns);
	text_printf(out, "%10s %5.1f %% %6llu", duration.bytes, all_ns ? 100.0 * ns / all_ns : 0,
		    (unsigned long long)threads);
	text_fini(&duration);
}

static void put_runs(struct text *out, const struct comparison_code *code)
{
	for (size_t i = 0; i < code->configurations->count; i++) {
		text_printf(out, "  %zu: ", i + 1);
		text_put_escaped(out, code->traces[i]);
		text_put(out, ", ");
		text_put_duration(out, code->configurations->reports[i]->target.wall_ns);
		text_put(out, "\n");
	}
}

static void put_table(struct text *out, const struct configurations *all, size_t first, size_t end)
{
	text_put(out, "\n");
	text_printf(out, "  %*s", NAME_COLUMNS, "");
	for (size_t i = first; i < end; i++)
		text_printf(out, "%6zu: CMetric   threads", i + 1);
	text_put(out, "\n");
	put_name(out, "all");
	for (size_t i = first; i < end; i++)
		put_cell(out, all->reports[i]->totals.cmetric_ns, all->reports[i]->totals.cmetric_ns,
			 all->reports[i]->totals.threads);
	text_put(out, "\n");
	for (size_t k = 0; k < all->group_count && k < GROUPS_MAX; k++) {
		put_name(out, all->groups[k].name);
		for (size_t i = first; i < end; i++)
			put_cell(out, all->groups[k].parts[i].cmetric_ns, all->reports[i]->totals.cmetric_ns,
				 all->groups[k].parts[i].thread_count);
		text_put(out, "\n");
	}
	if (all->group_count > GROUPS_MAX)
		text_printf(out, "  … %zu more\n", all->group_count - GROUPS_MAX);
}

void configurations_put_text(struct text *out, const struct comparison_code *code)
{
	const struct configurations *all = code->configurations;

	text_put(out, "\nGroups of threads by CMetric  (exact; their share of all)\n");
	put_runs(out, code);
	for (size_t first = 0; first < all->count; first += RUNS_A_LINE)
		put_table(out, all, first, first + RUNS_A_LINE < all->count ? first + RUNS_A_LINE : all->count);
}
