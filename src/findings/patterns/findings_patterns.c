/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands out: patterns that a performance engineer has a name for, each with what speaks for it,
 * in the order of what they cost, but that deadlocks come first, and a hang of all that is traced.
 */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>

#include "findings/patterns/draft.h"

/* Nothing else matters where nothing goes on. */
static bool is_end_of_all(const struct draft *draft, const struct report_finding *row)
{
	return row->pattern == PATTERN_DEADLOCK || (draft->is_hung && row->pattern == PATTERN_HANG);
}

static int findings_by_weight(const void *a, const void *b, void *data)
{
	const struct report_finding *x = a, *y = b;
	bool is_x = is_end_of_all(data, x), is_y = is_end_of_all(data, y);

	if (is_x != is_y)
		return is_x ? -1 : 1;
	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return strcmp(x->title, y->title);
}

void findings_add_patterns(struct findings *findings)
{
	struct draft *draft = xcalloc(1, sizeof(*draft));
	struct report_finding *rows;

	patterns_add_deadlocks(findings, draft);
	patterns_add_hangs(findings, draft);
	patterns_add_locks(findings, draft);
	patterns_add_waits(findings, draft);
	patterns_add_threads(findings, draft);
	patterns_add_cpus(findings, draft);
	patterns_add_spins(findings, draft);
	patterns_add_loops(findings, draft);
	patterns_add_collections(findings, draft);
	patterns_add_short_lived(findings, draft);
	patterns_fold_by_root(findings, draft);
	patterns_add_limits(findings, draft);
	patterns_add_listeners(findings, draft);
	qsort_r(draft->rows, draft->count, sizeof(*draft->rows), findings_by_weight, draft);
	rows = arena_alloc(findings->arena, draft->count * sizeof(*rows));
	for (size_t i = 0; i < draft->count; i++) {
		size_t bytes = draft->rows[i].evidence_count * sizeof(const char *);

		rows[i] = draft->rows[i];
		rows[i].evidence = memcpy(arena_alloc(findings->arena, bytes + 1), rows[i].evidence, bytes);
	}
	findings->report.findings = findings->stand_out = rows;
	findings->report.finding_count = draft->count;
	free(draft);
}
