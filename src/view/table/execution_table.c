/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/table/execution_table.h"

#include "base/text.h"
#include "base/whole.h"
#include "compare/figures.h"
#include "compare/groups.h"
#include "spans/execution.h"

static void put_names(struct text *out)
{
	text_put(out, "group,thread,begin_thread,begin_ns,end_ns");
	for (unsigned int figure = 0; figure < FIGURES; figure++) {
		text_put(out, ",");
		figure_put_name(out, figure);
	}
	text_put(out, "\r\n");
}

void execution_table_put(struct text *out, const struct executions *executions, const struct groups *groups,
			 const double *values, uint64_t first_ns)
{
	put_names(out);
	for (size_t i = 0; i < executions->count; i++) {
		const struct execution *execution = &executions->list[i];
		unsigned int group = groups->of[i] == GROUP_OUTLIER ? 0 : groups->of[i] + 1u;

		text_printf(out, "%u,%u,%u,%lld,%lld", group, execution->thread, execution->begin_thread,
			    (long long)(execution->begin_ns - first_ns), (long long)(execution->end_ns - first_ns));
		for (unsigned int figure = 0; figure < FIGURES; figure++) {
			text_put(out, ",");
			text_put_decimal(out, whole(values[i * FIGURES + figure]), 1);
		}
		text_put(out, "\r\n");
	}
}
