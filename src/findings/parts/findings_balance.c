/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the time of all threads went: running, waiting for a CPU, and each cause of waiting. Exact, as
 * far as the system calls tell causes apart; what only functions above them tell is estimated where
 * stacks were left out.
 */
#include "findings/parts/findings_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/whole.h"
#include "waits/cpu_waits.h"

struct shares {
	double wait_ns, idle_ns, count;
};

/* Waits by what system calls tell, less those of which functions tell more; and these, by what they tell. */
struct causes {
	struct shares rest[CAUSES], meant[CAUSES];
};

static void move(struct findings *findings, struct causes *causes, const struct wait_path *path, enum wait_cause from,
		 const struct wait_amount *amount)
{
	struct wait_meaning meaning = findings_meaning(findings, path);
	struct shares *rest = &causes->rest[from], *meant = &causes->meant[meaning.cause];
	double wait_ns = wait_amount_ns(amount), idle_ns = amount->of[WAIT_IDLE_NS];

	rest->wait_ns -= wait_ns;
	rest->idle_ns -= idle_ns;
	rest->count -= amount->of[WAIT_COUNT];
	meant->wait_ns += wait_ns;
	meant->idle_ns += findings_idle_of(findings, path, &meaning, idle_ns, wait_ns);
	meant->count += amount->of[WAIT_COUNT];
}

/* What was waited for a lock at no path that is known is of the kind that some stack of its waits says. */
static void move_locks(struct findings *findings, const struct wait_bounds *bounds, struct causes *causes)
{
	const struct wait_lock *lock;
	size_t cursor = 0;

	while ((lock = waits_next_lock(findings->input.waits, &cursor))) {
		struct wait_amount amount;

		if (!lock->heaviest || lock->is_others)
			continue;
		amount = findings_nowhere(bounds, lock);
		move(findings, causes, lock->heaviest, lock->cause, &amount);
	}
}

static void move_paths(struct findings *findings, const struct wait_bounds *bounds, struct causes *causes)
{
	const struct wait_path *path;
	size_t cursor = 0;

	while ((path = waits_next_path(findings->input.waits, &cursor))) {
		struct wait_parts parts = findings_parts(bounds, path);

		wait_amount_add(&parts.own, &parts.others, 1);
		move(findings, causes, path, path->cause, &parts.own);
	}
}

/* Returns the time of all waits. */
static uint64_t add_causes(struct findings *findings, struct causes *causes)
{
	struct wait_bounds *bounds = findings_bounds_new(findings);
	uint64_t waited_ns = 0;

	for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
		struct wait_sum sum = waits_by_cause(findings->input.waits, cause);

		causes->rest[cause] = (struct shares){ sum.wait_ns, sum.idle_ns, sum.count };
		waited_ns += sum.wait_ns;
	}
	move_locks(findings, bounds, causes);
	move_paths(findings, bounds, causes);
	findings_bounds_free(bounds);
	return waited_ns;
}

static void put_causes(const struct causes *causes, struct report_cause *rows, size_t *count)
{
	for (enum wait_cause cause = 0; cause < CAUSES; cause++) {
		const struct shares *rest = &causes->rest[cause], *meant = &causes->meant[cause];

		if (rest->count + meant->count < 0.5)
			continue;
		rows[(*count)++] = (struct report_cause){
			.cause = cause,
			.group = wait_cause_group(cause),
			.wait_ns = whole(rest->wait_ns + meant->wait_ns + 0.5),
			.idle_ns = whole(findings_idle_ns(cause, rest->idle_ns) + meant->idle_ns + 0.5),
			.waits = whole(rest->count + meant->count + 0.5),
		};
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

/* How many CPUs those may use who waited for one for half of the time or more; 0: all, or not known. */
static uint64_t cpus_allowed(const struct findings *findings)
{
	const struct thread_metrics *metrics;
	uint64_t bound_ns = 0, most = 0;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor))) {
		if (!metrics->cpus_allowed || metrics->cpus_allowed >= findings->input.cpu_count)
			continue;
		bound_ns += metrics->runnable_ns;
		most = metrics->cpus_allowed > most ? metrics->cpus_allowed : most;
	}
	return bound_ns && 2 * bound_ns >= findings->report.balance.threads.cpu_wait_ns ? most : 0;
}

void findings_add_balance(struct findings *findings)
{
	struct report *report = &findings->report;
	struct report_cause *rows = arena_alloc(findings->arena, (CAUSES + 2) * sizeof(*rows));
	struct causes causes = { 0 };
	const struct thread_metrics *metrics;
	uint64_t blocked_ns = 0, waited_ns, slices = 0;
	size_t cursor = 0;

	while ((metrics = criticality_next_thread(findings->input.criticality, &cursor))) {
		report->balance.threads.running_ns += metrics->running_ns;
		report->balance.threads.cpu_wait_ns += metrics->runnable_ns;
		blocked_ns += metrics->blocked_ns;
		slices += metrics->slices;
	}
	report->balance.threads.total_ns =
		report->balance.threads.running_ns + report->balance.threads.cpu_wait_ns + blocked_ns;
	report->balance.threads.cpus_allowed = cpus_allowed(findings);
	waited_ns = add_causes(findings, &causes);
	put_causes(&causes, rows, &report->balance.threads.cause_count);
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
