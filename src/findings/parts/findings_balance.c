/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of all threads went: running, waiting for a CPU, and each cause of waiting. Exact,
 * except for how much of the waits on files was for kernel locks.
 */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "waits/cpu_waits.h"

struct shares {
	double wait_ns, idle_ns, count;
};

static void move(struct shares *causes, enum wait_cause from, enum wait_cause to, const struct shares *part)
{
	if (from == to)
		return;
	causes[from].wait_ns -= part->wait_ns;
	causes[from].idle_ns -= part->idle_ns;
	causes[from].count -= part->count;
	causes[to].wait_ns += part->wait_ns;
	causes[to].idle_ns += part->idle_ns;
	causes[to].count += part->count;
}

/* What a worker without work waits for is idle, whoever ended it. */
static void add_idle(struct shares *cause, const struct wait_meaning *meaning, const struct shares *part)
{
	if (meaning->is_idle)
		cause->idle_ns += part->wait_ns - part->idle_ns;
}

/* A futex is of one kind, whose name some stack of its waits says; what many have in common is unknown. */
static void move_locks(struct findings *findings, struct shares *causes)
{
	const struct wait_lock *lock;
	size_t cursor = 0;

	while ((lock = waits_next_lock(findings->input.waits, &cursor))) {
		struct shares part = { lock->sum.wait_ns, lock->sum.idle_ns, lock->sum.count };
		struct wait_meaning meaning;

		if (!lock->heaviest || lock->is_others)
			continue;
		meaning = findings_meaning(findings, lock->heaviest);
		move(causes, lock->cause, meaning.cause, &part);
		add_idle(&causes[meaning.cause], &meaning, &part);
	}
}

static void move_paths(struct findings *findings, struct shares *causes)
{
	const struct wait_path *path;
	size_t cursor = 0;

	while ((path = waits_next_path(findings->input.waits, &cursor))) {
		struct shares part = { path->wait_ns, path->idle_ns, path->count };

		struct wait_meaning meaning;

		if (wait_has_futex(&path->facts))
			continue;
		meaning = findings_meaning(findings, path);
		move(causes, path->cause, meaning.cause, &part);
		add_idle(&causes[meaning.cause], &meaning, &part);
	}
}

static int causes_by_loss(const void *a, const void *b)
{
	const struct report_cause *x = a, *y = b;

	if (x->wait_ns != y->wait_ns)
		return x->wait_ns < y->wait_ns ? 1 : -1;
	return strcmp(wait_cause_name(x->cause), wait_cause_name(y->cause));
}

/* The time in which threads could run but did not: preempted, except for what a limit took. */
static void add_active(struct findings *findings, struct report_cause *rows, uint64_t slices)
{
	struct report *report = &findings->report;
	struct cpu_throttling throttling = { 0 };

	if (findings->input.cpu_waits)
		throttling = cpu_waits_throttling(findings->input.cpu_waits);
	report->balance.threads.throttled_ns = throttling.throttled_ns;
	if (report->balance.threads.throttled_ns > report->balance.threads.cpu_wait_ns)
		report->balance.threads.throttled_ns = report->balance.threads.cpu_wait_ns;
	report->balance.threads.throttled_max_ns = throttling.max_ns;
	rows[report->balance.threads.cause_count++] = (struct report_cause){
		.cause = CAUSE_PREEMPTED,
		.group = wait_cause_group(CAUSE_PREEMPTED),
		.wait_ns = report->balance.threads.cpu_wait_ns - report->balance.threads.throttled_ns,
		.waits = slices,
		.is_active = true,
	};
	if (throttling.count)
		rows[report->balance.threads.cause_count++] = (struct report_cause){
			.cause = CAUSE_THROTTLED,
			.group = wait_cause_group(CAUSE_THROTTLED),
			.wait_ns = report->balance.threads.throttled_ns,
			.waits = throttling.count,
			.is_active = true,
		};
}

static uint64_t busy_ns(const struct report *report, const struct report_cause *rows)
{
	uint64_t idle_ns = 0;

	for (size_t i = 0; i < report->balance.threads.cause_count; i++)
		idle_ns += rows[i].idle_ns;
	return report->balance.threads.total_ns > idle_ns ? report->balance.threads.total_ns - idle_ns : 0;
}

void findings_add_balance(struct findings *findings)
{
	struct report *report = &findings->report;
	struct report_cause *rows = arena_alloc(findings->arena, (CAUSES + 2) * sizeof(*rows));
	struct shares causes[CAUSES];
	const struct thread_metrics *metrics;
	uint64_t blocked_ns = 0, waited_ns = 0, slices = 0;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor))) {
		report->balance.threads.running_ns += metrics->running_ns;
		report->balance.threads.cpu_wait_ns += metrics->runnable_ns;
		blocked_ns += metrics->blocked_ns;
		slices += metrics->slices;
	}
	report->balance.threads.total_ns =
		report->balance.threads.running_ns + report->balance.threads.cpu_wait_ns + blocked_ns;
	for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
		struct wait_sum sum = waits_by_cause(findings->input.waits, cause);

		causes[cause] = (struct shares){ sum.wait_ns, sum.idle_ns, sum.count };
		waited_ns += sum.wait_ns;
	}
	move_locks(findings, causes);
	move_paths(findings, causes);
	for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
		if (causes[cause].count < 0.5)
			continue;
		rows[report->balance.threads.cause_count++] = (struct report_cause){
			.cause = cause,
			.group = wait_cause_group(cause),
			.wait_ns = whole(causes[cause].wait_ns + 0.5),
			.idle_ns = whole(findings_idle_ns(cause, causes[cause].idle_ns) + 0.5),
			.waits = whole(causes[cause].count + 0.5),
		};
	}
	add_active(findings, rows, slices);
	report->balance.threads.busy_ns = busy_ns(report, rows);
	qsort(rows, report->balance.threads.cause_count, sizeof(*rows), causes_by_loss);
	report->balance.threads.causes = rows;
	report->balance.threads.accounting_error_ns = (int64_t)(blocked_ns - waited_ns);
	findings_add_rivals(findings, report->balance.threads.cpu_wait_ns - report->balance.threads.throttled_ns);
	report->balance.threads.unexplained_waits = waits_missing_wakeups(findings->input.waits, MISSING_ODD);
	report->balance.threads.hidden_waits = waits_missing_wakeups(findings->input.waits, MISSING_HIDDEN);
	report->balance.threads.lost_waits = waits_missing_wakeups(findings->input.waits, MISSING_LOST);
}
