/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who had the CPU while threads waited for one. */
#include "findings/parts/findings_waits.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "waits/cpu_waits.h"

enum { RIVALS_NAMED_MAX = 64 };

static int by_time(const void *a, const void *b)
{
	const struct report_rival *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return strcmp(rival_kind_name(x->kind), rival_kind_name(y->kind));
}

/* The tracer, or one of its helpers. */
static bool is_pinch(const struct report_rival *rival)
{
	return rival->kind == RIVAL_PROCESS && rival->name && !strcmp(rival->name, "pinch");
}

void findings_add_rivals(struct findings *findings, uint64_t waited_ns)
{
	const struct cpu_waits *waits = findings->input.cpu_waits;
	const struct rival *rival;
	struct report_rival *rows;
	size_t cursor = 0, count = 0;
	uint64_t program_ns = 0;

	if (!waits)
		return;
	rows = arena_alloc(findings->arena, (cpu_waits_rival_count(waits) + 1) * sizeof(*rows));
	while ((rival = cpu_waits_next(waits, &cursor)))
		rows[count++] = (struct report_rival){
			.kind = rival->kind,
			.name = *rival->name ? arena_strdup(findings->arena, rival->name) : NULL,
			.pid = rival->pid,
			.wait_ns = rival->wait_ns,
		};
	for (size_t i = 0; i < count; i++)
		if (is_pinch(&rows[i]))
			findings->report.cost.target_waited_ns += rows[i].wait_ns;
	qsort(rows, count, sizeof(*rows), by_time);
	if (count > RIVALS_NAMED_MAX)
		count = RIVALS_NAMED_MAX;
	for (size_t i = 0; i < count; i++)
		program_ns += rows[i].kind == RIVAL_PROGRAM ? rows[i].wait_ns : 0;
	findings->report.balance.threads.cpu_taken = findings_cpu_taken(findings, program_ns);
	for (size_t i = 0; i < count; i++)
		waited_ns -= rows[i].wait_ns < waited_ns ? rows[i].wait_ns : waited_ns;
	/* Small ones, those that are unknown, and waits that have not ended. */
	if (waited_ns)
		rows[count++] = (struct report_rival){ .kind = RIVAL_OTHER, .wait_ns = waited_ns };
	findings->report.balance.threads.ran_instead = rows;
	findings->report.balance.threads.rival_count = count;
}
