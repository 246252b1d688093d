/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict.h"

#include <math.h>
#include <string.h>

#include "findings/names/go_names.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"
#include "findings/patterns/draft.h"
#include "findings/verdict/verdict_code.h"
#include "findings/verdict/verdict_cpu.h"
#include "findings/verdict/verdict_goroutines.h"
#include "findings/verdict/verdict_program.h"
#include "findings/verdict/verdict_words.h"
#include "report/report_cause.h"
#include "stacks/fold.h"
#include "waits/sums/thread_set.h"

/*
 * cause_min: a part of what threads were blocked on that is the cause of the rest; verdict_code_min of it must have run.
 * certain_min: so much of the time must be known.
 */
static const double cause_min = 0.5, certain_min = 0.8;

/* In a program that is active for less than active_min of the wall time, waits count that are so long, or take noticed_min of it. */
static const double active_min = 0.2, noticed_min = 0.1;
enum { NOTICED_NS = 10000000 };

/*
 * A finding below share_min of all threads' time that was not idle, or wall_min of the wall time, is no verdict; nor
 * below small_max where code runs for verdict_trunk_min of the wall time; nor below nameless_min where neither the lock nor the
 * code has a name: nobody can do anything with it unless it is large.
 */
static const double share_min = 0.05, wall_min = 0.02, small_max = 0.1, nameless_min = 0.2;

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
	if (finding->memory_limit)
		return VERDICT_MEMORY;
	switch (finding->pattern) {
	case PATTERN_DEADLOCK:
		return VERDICT_DEADLOCK;
	case PATTERN_HANG:
		return VERDICT_HANG;
	case PATTERN_SERIAL_PHASE:
	case PATTERN_HOT_THREAD:
	case PATTERN_SATURATED_POOL:
	case PATTERN_EVENT_LOOP:
		return VERDICT_CODE;
	case PATTERN_SPIN:
		return VERDICT_SPIN;
	case PATTERN_GARBAGE_COLLECTION:
		return VERDICT_MEMORY;
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

/* A program that is not traced and ended most of the waiting; NULL: there is none. */
static const struct report_blocker *outsider_of(struct findings *findings, const struct report_wait *wait)
{
	const struct report_waker *waker = wait && wait->waker_count ? &wait->wakers[0] : NULL;
	struct report_blocker *blocker;

	if (!waker || !waker->name || waker->share < cause_min || waker->context != WAKER_PROCESS)
		return NULL;
	blocker = arena_alloc(findings->arena, sizeof(*blocker));
	blocker->name = waker->name;
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

/* Of waits that no thread has ended, a condition is waited for in order to sleep. */
static enum verdict_kind kind_of_end(enum wait_cause cause)
{
	return cause == CAUSE_CONDITION || cause == CAUSE_SEMAPHORE ? VERDICT_TIMER : kind_of_cause(cause);
}

/* What most of the waiting leads to; false: not to one cause. wait: the longest of it; NULL: it is not known. */
static bool follow(struct findings *findings, struct report_verdict *verdict, const struct report_blocked_on *on,
		   const struct report_wait *wait)
{
	double all_ns = on ? on->ns : 0;

	if (!on || !on->ns)
		return false;
	/* Code that could not always run is the cause, too; a shortage of CPUs is a finding of its own. */
	if (on->running_ns + on->cpu_wait_ns >= cause_min * all_ns && on->running_ns >= verdict_code_min * all_ns &&
	    on->code_count && on->samples >= CODE_EVIDENCE_MIN) {
		verdict->kind = VERDICT_CODE;
		set_path(verdict, on->code[0].frames, on->code[0].frame_count);
		return true;
	}
	if (on->cpu_wait_ns >= cause_min * all_ns) {
		if (verdict_is_own_shortage(findings, wait))
			return false;
		verdict->kind = VERDICT_CPU;
		return true;
	}
	if (on->wait_count && on->waits[0].ns >= cause_min * all_ns) {
		verdict->kind = kind_of_end(on->waits[0].cause);
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

	verdict->kind = root->kind == ROOT_CODE ? VERDICT_CODE
			: root->is_timed        ? VERDICT_TIMER
						: kind_of_cause(root->cause);
	verdict->object = root->object ? root->object : root->ender;
	verdict->symptom = finding->symptom;
	verdict->victims = root->victims;
	set_path(verdict, root->frames, root->frame_count);
	verdict->blocker = blocker_of(findings, root->who ? root->who : finding->blocker);
	if (!root->ender)
		return;
	ender = arena_alloc(findings->arena, sizeof(*ender)); /* which of those of that name it is, is not known */
	ender->name = root->ender;
	verdict->blocker = ender;
}

/* --- What has weight ----------------------------------------------------------------------------- */

/* Whether threads wait for others to end, in whatever call they do that. */
static bool is_for_exit(const struct report *report, const struct report_finding *finding)
{
	const struct report_wait *wait = finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;

	if (finding->cause == CAUSE_CHILD || finding->cause == CAUSE_JOIN)
		return true;
	return wait && wait->waker_count && wait->wakers[0].context == WAKER_EXIT && wait->wakers[0].share >= cause_min;
}

/*
 * Whether it is no loss that threads wait there: the program uses all CPUs meanwhile; or the others want to, which these
 * threads have started and wait for.
 */
static bool is_beside_busy(const struct report *report, const struct report_finding *finding)
{
	switch (finding->pattern) {
	case PATTERN_DEADLOCK:
	case PATTERN_SPIN:
	case PATTERN_CPU_WAIT:
	case PATTERN_CPU_LIMIT:
	case PATTERN_GARBAGE_COLLECTION:
	case PATTERN_SHORT_LIVED:
		return false;
	default:
		break;
	}
	return verdict_has_all_cpus(report) || (verdict_is_saturated(report) && is_for_exit(report, finding));
}

/* Of one wait, the mean; 0: that is not known. */
static uint64_t mean_lost_ns(const struct report *report, const struct report_finding *finding)
{
	const struct report_thread_balance *threads = &report->balance.threads;
	const struct report_wait *wait = finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;

	if (wait)
		return wait->waits ? (wait->wait_ns - wait->idle_ns) / wait->waits : 0;
	for (size_t i = 0; finding->pattern == PATTERN_CPU_WAIT && i < threads->cause_count; i++)
		if (threads->causes[i].cause == CAUSE_PREEMPTED && threads->causes[i].waits)
			return threads->causes[i].wait_ns / threads->causes[i].waits;
	return 0;
}

/* Whether it is next to nothing for those who ask a program that is idle most of the time: waits that are few, and short. */
static bool is_unnoticed(const struct report *report, const struct report_finding *finding, double lost_ns)
{
	uint64_t mean_ns = mean_lost_ns(report, finding);

	return report->totals.active_ns < active_min * report->target.wall_ns &&
	       lost_ns < noticed_min * report->target.wall_ns && mean_ns && mean_ns < NOTICED_NS;
}

/* Whether garbage collection is the smaller part of what code costs, which allocates and calls it. */
static bool is_part_of_code(const struct report_finding *finding, const struct verdict_code *code)
{
	return finding->pattern == PATTERN_GARBAGE_COLLECTION && finding->share < cause_min * code->wall_share;
}

/* Whether nothing tells which lock it is about, or where. */
static bool is_nameless(const struct findings *findings, const struct report_finding *finding)
{
	const struct report *report = &findings->report;
	const struct report_wait *wait = finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;
	const struct report_frame *frame =
		wait ? fold_find_headline(findings->input.fold, wait->frames, wait->frame_count) : NULL;

	return wait && wait->cause == CAUSE_LOCK && !wait->object && !(frame && frame->function);
}

static bool has_weight(const struct findings *findings, const struct report_finding *finding,
		       const struct verdict_code *code)
{
	const struct report *report = &findings->report;
	double weight = verdict_weight(report, finding), lost_ns = weight * report->balance.threads.busy_ns;

	if (finding->pattern == PATTERN_DEADLOCK || finding->pattern == PATTERN_HANG)
		return true;
	if (finding->pattern == PATTERN_ACCEPT_QUEUE) /* its share is of the wall time */
		return finding->share >= share_min && !is_beside_busy(report, finding);
	return weight >= (is_nameless(findings, finding) ? nameless_min : share_min) &&
	       lost_ns >= wall_min * report->target.wall_ns && !is_unnoticed(report, finding, lost_ns) &&
	       !is_beside_busy(report, finding) && !is_part_of_code(finding, code);
}

/* NULL: none has weight enough for a verdict. They are sorted, but a lack of CPUs may weigh less than its share. */
static const struct report_finding *first_of_weight(const struct findings *findings, const struct verdict_code *code)
{
	const struct report *report = &findings->report;
	const struct report_finding *first = NULL;

	for (size_t i = 0; i < report->finding_count; i++) {
		const struct report_finding *finding = &report->findings[i];

		if (!has_weight(findings, finding, code) ||
		    (first && verdict_weight(report, finding) <= verdict_weight(report, first)))
			continue;
		first = finding;
		if (first->pattern != PATTERN_CPU_WAIT)
			break;
	}
	return first;
}

/* Threads that waited there, or elsewhere for the same thing. */
static uint64_t count_victims(struct findings *findings, const struct report_wait *wait)
{
	const struct report *report = &findings->report;
	struct thread_set victims = { 0 };

	for (size_t i = 0; wait && i < report->wait_count; i++) {
		const struct report_wait *row = &report->waits[i];
		bool is_same =
			wait->object && row->object && row->cause == wait->cause && !strcmp(row->object, wait->object);

		for (uint64_t k = 0; (is_same || row == wait) && k < row->threads; k++)
			thread_set_put(&victims, findings->arena, row->waiters[k]);
	}
	return victims.count;
}

/* Where goroutines wait is what a program does; the thread of the runtime that polls for them waits in the runtime. */
static void set_polled_for(const struct report *report, struct report_verdict *verdict, struct verdict_basis *basis)
{
	const struct report_frame *own, *frames = verdict->cause_path;
	size_t count = verdict->cause_frame_count;

	if (!count || !go_is_library(&frames[count - 1]) || go_find_own(frames, count))
		return;
	basis->polled_for = verdict_goroutine_network(report, &own);
	if (basis->polled_for)
		set_path(verdict, own, basis->polled_for->frames + basis->polled_for->frame_count - own);
}

/* --- The verdict --------------------------------------------------------------------------------- */

static void from_finding(struct findings *findings, struct report_verdict *verdict, struct verdict_basis *basis)
{
	const struct report *report = &findings->report;
	const struct report_finding *finding = basis->finding;
	const struct report_wait *wait = finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;
	const struct report_path *path = finding->path_rank ? &report->paths[finding->path_rank - 1] : NULL;

	verdict->kind = kind_of(finding);
	verdict->share = finding->share;
	verdict->object = finding->object ? finding->object : wait ? wait->object : NULL;
	verdict->victims = count_victims(findings, wait);
	basis->taken_by = verdict_cpu_code(findings, finding);
	if (basis->taken_by)
		verdict->kind = VERDICT_CODE;
	if (finding->pattern == PATTERN_CPU_WAIT)
		verdict->blocker = verdict_rival(findings);
	else if (verdict->kind != VERDICT_DEADLOCK && verdict->kind != VERDICT_HANG) /* of those each other one is */
		verdict->blocker = blocker_of(findings, finding->blocker ? finding->blocker : waker_name(wait));
	if (!verdict->blocker && verdict->kind != VERDICT_DEADLOCK && verdict->kind != VERDICT_HANG)
		verdict->blocker = outsider_of(findings, wait);
	if (basis->taken_by)
		set_path(verdict, basis->taken_by->frames, basis->taken_by->frame_count);
	else if (finding->code)
		set_path(verdict, finding->code->frames, finding->code->frame_count);
	else if (path)
		set_path(verdict, path->frames, path->frame_count);
	else if (wait)
		set_path(verdict, wait->frames, wait->frame_count);
	if (finding->root)
		take_root(findings, verdict, finding);
	if (finding->memory_limit)
		verdict->kind = VERDICT_MEMORY;
	/* How many they are is known by now; all views say it alike. */
	if (verdict->victims == 1)
		findings->stand_out[finding - report->findings].title = words_singular(findings, finding->title);
	if (verdict->kind == VERDICT_NETWORK)
		set_polled_for(report, verdict, basis);
	basis->is_followed = verdict->kind != VERDICT_DEADLOCK && verdict->kind != VERDICT_HANG && !finding->root &&
			     !finding->memory_limit && follow(findings, verdict, finding->blocked_on, wait);
	if (basis->is_followed)
		verdict->symptom = finding->title;
	if (basis->is_followed && verdict->kind == VERDICT_CPU)
		verdict->blocker = verdict_rival(findings);
	verdict->confidence = verdict->kind == VERDICT_DEADLOCK ? CONFIDENCE_CERTAIN
			      : (basis->is_followed || finding->root) && is_unsure(finding->blocked_on)
				      ? CONFIDENCE_POSSIBLE
				      : CONFIDENCE_LIKELY;
}

static enum verdict_kind kind_of_goroutines(enum goroutine_kind kind)
{
	switch (kind) {
	case GOROUTINE_SLEEP:
		return VERDICT_TIMER;
	case GOROUTINE_NETWORK:
		return VERDICT_NETWORK;
	default:
		return VERDICT_LOCK;
	}
}

/* What those wait for who have the lock that goroutines wait for. */
static void from_holder(struct report_verdict *verdict, const struct report_goroutine_wait *holder)
{
	verdict->kind = kind_of_goroutines(holder->kind);
	set_path(verdict, holder->frames + holder->own_frame, holder->frame_count - holder->own_frame);
}

/* Runnable goroutines wait for others to leave a CPU: so do those that wait for a mutex behind code that runs. */
static void from_goroutines(struct report_verdict *verdict, const struct verdict_basis *basis)
{
	const struct report_go_process *go = basis->go;
	double held = basis->goroutines ? basis->goroutines->waiting : go->runnable;
	double others = go->running + go->in_syscall + (basis->goroutines ? go->runnable : 0);

	verdict->kind = !basis->goroutines ? VERDICT_CPU : basis->code.frame_count ? VERDICT_CODE : VERDICT_LOCK;
	verdict->confidence = CONFIDENCE_LIKELY;
	verdict->share = held / (held + others);
	if (!basis->goroutines)
		return;
	verdict->object = basis->holder ? NULL : basis->goroutines->what;
	if (basis->holder)
		from_holder(verdict, basis->holder);
	else if (basis->code.frame_count)
		set_path(verdict, basis->code.frames, basis->code.frame_count);
	else
		set_path(verdict, basis->goroutines->frames, basis->goroutines->frame_count);
}

static void from_code(struct report_verdict *verdict, const struct verdict_code *code)
{
	verdict->kind = VERDICT_CODE;
	verdict->confidence = code->wall_share < verdict_code_min ? CONFIDENCE_POSSIBLE : CONFIDENCE_LIKELY;
	verdict->share = code->wall_share;
	set_path(verdict, code->frames, code->frame_count);
}

/* What threads wait for most that is neither of the program nor a CPU: a file, a peer, a time. NULL: nothing that has weight. */
static const struct report_finding *outside_wait(const struct findings *findings, const struct verdict_code *code)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->finding_count; i++) {
		const struct report_finding *finding = &report->findings[i];
		enum verdict_kind kind = kind_of(finding);

		if (finding->pattern == PATTERN_WAIT && has_weight(findings, finding, code) &&
		    (kind == VERDICT_FILE || kind == VERDICT_NETWORK || kind == VERDICT_TIMER ||
		     kind == VERDICT_PROCESS || kind == VERDICT_MEMORY))
			return finding;
	}
	return NULL;
}

/* Whether the code runs in the very call that waits: that belongs to what is waited for, as the kernel's part of fsync() does. */
static bool is_same_call(struct findings *findings, const struct report_finding *outside,
			 const struct verdict_code *code)
{
	const struct report_wait *wait = outside->wait_rank ? &findings->report.waits[outside->wait_rank - 1] : NULL;
	const struct report_frame *waits, *runs;

	if (!wait || !code->frame_count)
		return false;
	waits = fold_find_headline(findings->input.fold, wait->frames, wait->frame_count);
	runs = fold_find_headline(findings->input.fold, code->frames, code->frame_count);
	return waits && runs && waits->function && runs->function && !strcmp(waits->function, runs->function) &&
	       waits->line == runs->line;
}

/*
 * Who has the lock that goroutines wait for runs, or waits with a thread, or without one: what takes most of the wall time is
 * taken to be his. A goroutine without a thread has to have the lock for sure, for others may wait idly.
 */
static void set_behind_goroutines(struct findings *findings, struct verdict_basis *basis)
{
	const struct report *report = &findings->report;
	const struct report_finding *outside = outside_wait(findings, &basis->code);
	double wall_share = outside ? outside->share * report->balance.threads.busy_ns / report->target.wall_ns : 0;

	basis->holder = verdict_goroutine_holder(basis->go, basis->goroutines);
	if (basis->holder && basis->holder->waiting < fmax(basis->code.wall_share, verdict_code_min))
		basis->holder = NULL;
	if (!outside || wall_share < verdict_code_min ||
	    (wall_share < basis->code.wall_share && !is_same_call(findings, outside, &basis->code)) ||
	    (basis->holder && basis->holder->waiting >= wall_share))
		return;
	basis->finding = outside;
	basis->go = NULL;
	basis->goroutines = basis->holder = NULL;
}

/*
 * Goroutines, if they are held back, instead of a finding of how threads of Go's runtime wait for each other or for CPUs;
 * what any others wait for is behind the goroutines, too.
 */
static void set_goroutines(struct findings *findings, struct verdict_basis *basis)
{
	const struct report *report = &findings->report;
	enum verdict_kind kind = basis->finding ? kind_of(basis->finding) : VERDICT_NONE;

	if (kind != VERDICT_NONE && kind != VERDICT_CPU && kind != VERDICT_LOCK && kind != VERDICT_CODE)
		return;
	basis->goroutines = verdict_goroutine_wait(report, &basis->go);
	if (!basis->goroutines)
		basis->go = verdict_few_processors(report);
	if (basis->go)
		basis->finding = NULL;
	if (basis->goroutines)
		set_behind_goroutines(findings, basis);
}

static bool is_slow_to_accept(const struct report_finding *finding)
{
	return finding->pattern == PATTERN_ACCEPT_QUEUE && patterns_is_slow_to_accept(finding->listener);
}

void findings_add_verdict(struct findings *findings)
{
	struct report *report = &findings->report;
	struct verdict_basis basis = { .code = verdict_main_code(findings) };

	basis.finding = first_of_weight(findings, &basis.code);
	set_goroutines(findings, &basis);
	/* It accepts late for what it runs meanwhile. */
	if (basis.finding && basis.code.frame_count && is_slow_to_accept(basis.finding))
		basis.finding = NULL;
	/* What little is waited for does not matter beside code that runs most of the time. */
	if (basis.finding && verdict_weight(report, basis.finding) < small_max &&
	    basis.finding->pattern != PATTERN_DEADLOCK && basis.finding->pattern != PATTERN_HANG &&
	    basis.code.wall_share >= verdict_trunk_min)
		basis.finding = NULL;
	if (basis.finding) {
		from_finding(findings, &report->verdict, &basis);
	} else if (basis.go) {
		from_goroutines(&report->verdict, &basis);
	} else if (basis.code.frame_count) {
		from_code(&report->verdict, &basis.code);
	} else {
		report->verdict.kind = VERDICT_NONE;
		report->verdict.confidence = CONFIDENCE_LIKELY;
	}
	if (basis.finding || basis.code.path)
		report->verdict.program = verdict_program(findings, basis.finding, basis.code.path);
	verdict_put_lines(findings, &report->verdict, &basis);
	if (basis.finding && basis.code.frame_count)
		verdict_add_code(findings, &basis.code);
}
