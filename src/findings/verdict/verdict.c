/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict.h"

#include <string.h>

#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"
#include "report/report_cause.h"
#include "stacks/fold.h"

/*
 * cause_min: a part of what threads were blocked on that is the cause of the rest. code_min: so much of it must have run;
 * and so much of the wall time makes a call path the verdict that nobody waited for. certain_min: so much of the time must be known.
 */
static const double cause_min = 0.5, code_min = 0.2, certain_min = 0.8, idle_min = 0.5;

enum { LINES = 3 };

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static enum verdict_kind kind_of_cause(enum wait_cause cause)
{
	switch (cause) {
	case CAUSE_FILE:
		return VERDICT_FILE;
	case CAUSE_SOCKET:
	case CAUSE_POLL:
		return VERDICT_NETWORK;
	case CAUSE_PIPE:
	case CAUSE_CHILD:
		return VERDICT_PROCESS;
	case CAUSE_SLEEP:
		return VERDICT_TIMER;
	case CAUSE_PAGE_FAULT:
		return VERDICT_MEMORY;
	case CAUSE_KERNEL_LOCK:
		return VERDICT_KERNEL_LOCK;
	case CAUSE_THROTTLED:
		return VERDICT_CPU_LIMIT;
	case CAUSE_PREEMPTED:
		return VERDICT_CPU;
	case CAUSE_SPIN:
		return VERDICT_SPIN;
	case CAUSE_EXIT:
	case CAUSE_ON_CPU:
		return VERDICT_CODE;
	default:
		return VERDICT_LOCK;
	}
}

static enum verdict_kind kind_of(const struct report_finding *finding)
{
	switch (finding->pattern) {
	case PATTERN_DEADLOCK:
		return VERDICT_DEADLOCK;
	case PATTERN_SERIAL_PHASE:
	case PATTERN_HOT_THREAD:
	case PATTERN_SATURATED_POOL:
		return VERDICT_CODE;
	case PATTERN_SPIN:
		return VERDICT_SPIN;
	default:
		return kind_of_cause(finding->cause);
	}
}

/* --- Who ----------------------------------------------------------------------------------------- */

/* NULL: no name is known. Several threads may have that name: then no ids are given. */
static const struct report_blocker *blocker_of(struct findings *findings, const char *name)
{
	const struct report *report = &findings->report;
	struct report_blocker *blocker;
	size_t count = 0;

	if (!name)
		return NULL;
	blocker = arena_alloc(findings->arena, sizeof(*blocker));
	blocker->name = name;
	for (size_t i = 0; i < report->thread_count; i++) {
		const struct report_thread *thread = &report->threads[i];

		if (strcmp(thread->name, name) != 0)
			continue;
		count += thread->thread_count;
		blocker->pid = thread->host_pid;
		blocker->tid = thread->host_tid;
	}
	if (count != 1)
		blocker->pid = blocker->tid = 0;
	return blocker;
}

static const char *waker_name(const struct report_wait *wait)
{
	const struct report_waker *waker = wait && wait->waker_count ? &wait->wakers[0] : NULL;

	if (!waker || waker->share < cause_min || waker->names ||
	    (waker->context != WAKER_THREAD && waker->context != WAKER_EXIT))
		return NULL;
	return waker->name;
}

/* --- Where --------------------------------------------------------------------------------------- */

static void set_path(struct report_verdict *verdict, const struct report_frame *frames, size_t count)
{
	verdict->cause_path = frames;
	verdict->cause_frame_count = count;
}

/* What most of the waiting leads to; false: not to one cause. */
static bool follow(struct report_verdict *verdict, const struct report_blocked_on *on)
{
	double all_ns = on ? on->ns : 0;

	if (!on || !on->ns)
		return false;
	/* Code that could not always run is the cause, too; a shortage of CPUs is a finding of its own. */
	if (on->running_ns + on->cpu_wait_ns >= cause_min * all_ns && on->running_ns >= code_min * all_ns &&
	    on->code_count) {
		verdict->kind = VERDICT_CODE;
		set_path(verdict, on->code[0].frames, on->code[0].frame_count);
		return true;
	}
	if (on->cpu_wait_ns >= cause_min * all_ns) {
		verdict->kind = VERDICT_CPU;
		return true;
	}
	if (on->wait_count && on->waits[0].ns >= cause_min * all_ns) {
		verdict->kind = kind_of_cause(on->waits[0].cause);
		verdict->object = on->waits[0].object;
		set_path(verdict, on->waits[0].frames, on->waits[0].frame_count);
		return true;
	}
	return false;
}

static bool is_unsure(const struct report_blocked_on *on)
{
	return on && on->unknown_ns > (1 - certain_min) * on->ns;
}

/* Of a finding that is a cause itself. */
static void take_root(struct findings *findings, struct report_verdict *verdict, const struct report_finding *finding)
{
	const struct report_root *root = finding->root;
	struct report_blocker *ender;

	verdict->kind = root->kind == ROOT_CODE ? VERDICT_CODE : kind_of_cause(root->cause);
	verdict->object = root->object ? root->object : root->ender;
	verdict->symptom = finding->symptom;
	verdict->victims = root->victims;
	set_path(verdict, root->frames, root->frame_count);
	if (!root->ender)
		return;
	ender = arena_alloc(findings->arena, sizeof(*ender)); /* which of those of that name it is, is not known */
	ender->name = root->ender;
	verdict->blocker = ender;
}

/* --- Words --------------------------------------------------------------------------------------- */

static const char *place_words(struct findings *findings, const struct report_verdict *verdict)
{
	const char *place = words_place(findings, verdict->cause_path, verdict->cause_frame_count);
	const char *caller =
		place ? words_place_caller(findings, verdict->cause_path, verdict->cause_frame_count) : NULL;

	return caller ? arena_printf(findings->arena, "%s, called by %s", place, caller) : place;
}

static const char *try_words(struct findings *findings, const struct report_verdict *verdict)
{
	const char *place = place_words(findings, verdict);
	const char *object = verdict->object ? words_object(findings, verdict->object) : NULL;

	switch (verdict->kind) {
	case VERDICT_CODE:
		return place ? arena_printf(findings->arena, "make %s faster", place)
			     : "the code under Call paths has most of the time";
	case VERDICT_CPU:
		return "more CPUs, fewer threads, or less beside it: pinch whatif --cpus says what one more would gain";
	case VERDICT_CPU_LIMIT:
		return "raise the CPU limit of the cgroup (cpu.max), or use fewer threads";
	case VERDICT_NETWORK:
		return object ? arena_printf(findings->arena, "look at %s, which it waits for", object)
			      : "look at the peers under I/O";
	default:
		if (place && object)
			return arena_printf(findings->arena, "look at %s, for %s", place, object);
		if (place || object)
			return arena_printf(findings->arena, "look at %s", place ? place : object);
		return "the rows under Waits say where";
	}
}

static const char *main_words(struct findings *findings, const struct report_verdict *verdict,
			      const struct report_finding *finding, bool is_followed)
{
	const char *place = is_followed ? place_words(findings, verdict) : NULL;
	const char *behind = "";

	if (is_followed && verdict->kind == VERDICT_CPU)
		behind = "; behind it: threads without a CPU";
	else if (place && verdict->kind == VERDICT_CODE)
		behind = arena_printf(findings->arena, "; behind it: %s runs", place);
	else if (place)
		behind = arena_printf(findings->arena, "; behind it: %s%s%s", place, verdict->object ? ", for " : "",
				      verdict->object ? words_object(findings, verdict->object) : "");
	return arena_printf(findings->arena, "%s%s", finding->title, behind);
}

static const char *evidence_words(struct findings *findings, const struct report_finding *finding)
{
	const char *words = "";

	for (size_t i = 0; i < finding->evidence_count && i < 2; i++)
		words = arena_printf(findings->arena, "%s%s%s", words, *words ? "; " : "", finding->evidence[i]);
	return words;
}

/* --- The verdict --------------------------------------------------------------------------------- */

static void from_finding(struct findings *findings, struct report_verdict *verdict, const char **lines)
{
	const struct report *report = &findings->report;
	const struct report_finding *finding = report->findings;
	const struct report_wait *wait = finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;
	const struct report_path *path = finding->path_rank ? &report->paths[finding->path_rank - 1] : NULL;
	bool is_followed;

	verdict->kind = kind_of(finding);
	verdict->share = finding->share;
	verdict->object = finding->object ? finding->object : wait ? wait->object : NULL;
	verdict->victims = wait ? wait->waits : 0;
	if (finding->pattern != PATTERN_DEADLOCK) /* of those each other one is */
		verdict->blocker = blocker_of(findings, finding->blocker ? finding->blocker : waker_name(wait));
	if (path)
		set_path(verdict, path->frames, path->frame_count);
	else if (wait)
		set_path(verdict, wait->frames, wait->frame_count);
	if (finding->root)
		take_root(findings, verdict, finding);
	is_followed = verdict->kind != VERDICT_DEADLOCK && !finding->root && follow(verdict, finding->blocked_on);
	if (is_followed)
		verdict->symptom = finding->title;
	verdict->confidence = verdict->kind == VERDICT_DEADLOCK                                  ? CONFIDENCE_CERTAIN
			      : (is_followed || finding->root) && is_unsure(finding->blocked_on) ? CONFIDENCE_POSSIBLE
												 : CONFIDENCE_LIKELY;
	lines[0] = main_words(findings, verdict, finding, is_followed);
	lines[1] = evidence_words(findings, finding);
	lines[2] = try_words(findings, verdict);
}

static bool has_code(const struct report *report)
{
	const struct report_path *path = report->path_count ? &report->paths[0] : NULL;

	return path && path->frame_count && path->wall_share >= code_min && path->cmetric_ns > 2 * path->error_ns;
}

static void from_code(struct findings *findings, struct report_verdict *verdict, const char **lines)
{
	const struct report *report = &findings->report;
	const struct report_path *path = report->paths;

	verdict->kind = VERDICT_CODE;
	verdict->confidence = CONFIDENCE_LIKELY;
	verdict->share = path->wall_share;
	set_path(verdict, path->frames, path->frame_count);
	lines[0] = arena_printf(findings->arena, "%s runs for %.0f %% of the wall time while few others are active",
				place_words(findings, verdict), 100 * path->wall_share);
	lines[1] = arena_printf(findings->arena, "%llu samples; on average %.1f threads were active",
				(unsigned long long)path->samples, report->totals.parallelism);
	lines[2] = try_words(findings, verdict);
}

static void from_nothing(struct findings *findings, struct report_verdict *verdict, const char **lines)
{
	const struct report *report = &findings->report;
	const struct report_thread_balance *threads = &report->balance.threads;
	double idle = 1 - share_of(report->totals.active_ns, report->target.wall_ns);
	double cpus = share_of(threads->running_ns, report->target.wall_ns);

	verdict->kind = VERDICT_NONE;
	verdict->confidence = CONFIDENCE_LIKELY;
	lines[0] = idle >= idle_min
			   ? arena_printf(findings->arena,
					  "nothing held it back: for %.0f %% of the wall time it had nothing to do",
					  100 * idle)
			   : arena_printf(findings->arena, "nothing held it back: it used %.2f CPUs on average", cpus);
	lines[1] = arena_printf(findings->arena, "of the time of all threads %.0f %% was idle, %.0f %% running",
				100 * share_of(threads->total_ns - threads->busy_ns, threads->total_ns),
				100 * share_of(threads->running_ns, threads->total_ns));
	lines[2] = "look at those who use it, or at a time when it is slow";
}

void findings_add_verdict(struct findings *findings)
{
	struct report *report = &findings->report;
	const char **lines = arena_alloc(findings->arena, LINES * sizeof(*lines));

	report->verdict.lines = lines;
	report->verdict.line_count = LINES;
	if (report->finding_count)
		from_finding(findings, &report->verdict, lines);
	else if (has_code(report))
		from_code(findings, &report->verdict, lines);
	else
		from_nothing(findings, &report->verdict, lines);
}
