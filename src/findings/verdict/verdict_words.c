/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/verdict/verdict_words.h"

#include <string.h>

#include "findings/blame/blame.h"
#include "findings/names/collectors.h"
#include "findings/names/go_names.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"
#include "findings/patterns/draft.h"
#include "findings/verdict/verdict_disk.h"
#include "findings/verdict/verdict_program.h"
#include "report/report_cause.h"
#include "stacks/fold.h"

enum { LINES = 3, EVIDENCE_SENTENCES = 2, SAMPLES_MIN = 5 };

/*
 * full_min: of the CPUs, so much is all; idle_min: of the wall time, so much is mostly; busy_mostly: so much is all.
 * ender_min: of the waiting, so much has to be ended in one place; slept_min: so much of it has to be for one sleep.
 */
static const double full_min = 0.8, idle_min = 0.5, busy_mostly = 0.99, ender_min = 0.5, slept_min = 0.5;

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* --- Places -------------------------------------------------------------------------------------- */

const char *verdict_place(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = fold_find_headline(findings->input.fold, frames, count);
	const char *caller = frame ? words_caller(findings, frames, count, frame) : NULL;

	if (!frame || (!frame->function && !frame->module))
		return NULL;
	if (go_is_library(frame) && go_find_own(frames, count))
		return arena_printf(findings->arena, "%s, called from %s", words_frame(findings, frame),
				    words_frame(findings, go_find_own(frames, count)));
	return caller ? arena_printf(findings->arena, "%s, called by %s", words_frame(findings, frame), caller)
		      : words_frame(findings, frame);
}

const char *verdict_place_clause(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const char *place = verdict_place(findings, frames, count);

	return place && strstr(place, ", called by ") ? arena_printf(findings->arena, "%s,", place) : place;
}

static const char *place_words(struct findings *findings, const struct report_verdict *verdict)
{
	return verdict_place(findings, verdict->cause_path, verdict->cause_frame_count);
}

static const char *place_clause(struct findings *findings, const struct report_verdict *verdict)
{
	return verdict_place_clause(findings, verdict->cause_path, verdict->cause_frame_count);
}

/* "1.05 of 2 CPUs" */
static const char *cpus_words(struct findings *findings)
{
	const struct report *report = &findings->report;
	double used = share_of(report->balance.threads.running_ns, report->target.wall_ns);

	if (!report->target.cpu_count)
		return arena_printf(findings->arena, "%.2f CPUs", used);
	return arena_printf(findings->arena, "%.2f of %u CPU%s", used, report->target.cpu_count,
			    report->target.cpu_count == 1 ? "" : "s");
}

/* --- The main bottleneck --------------------------------------------------------------------------- */

/* "26 % of non-idle thread time; 4 threads" */
static const char *weight_words(struct findings *findings, const struct report_verdict *verdict,
				const struct report_finding *finding)
{
	const struct report_thread_balance *threads = &findings->report.balance.threads;
	const char *whole = threads->busy_ns < busy_mostly * threads->total_ns ? "non-idle thread time" : "thread time";
	const char *victims = verdict->victims ? arena_printf(findings->arena, "; %s",
							      words_counted(findings, verdict->victims, "thread"))
					       : "";

	if (finding->pattern == PATTERN_ACCEPT_QUEUE)
		whole = "the wall time";
	return arena_printf(findings->arena, "%.0f %% of %s%s", 100 * verdict->share, whole, victims);
}

/* Who had the CPUs that threads waited for; NULL: it is not known. */
static const char *takers(const struct report *report)
{
	for (size_t i = 0; i < report->blame.root_count; i++)
		if (report->blame.roots[i].kind == ROOT_CPU)
			return report->blame.roots[i].taken_by;
	return NULL;
}

static const struct collector *collector_behind(const struct report_verdict *verdict)
{
	size_t own;

	return verdict->kind == VERDICT_CODE ? collector_of(NULL, verdict->cause_path, verdict->cause_frame_count, &own)
					     : NULL;
}

static const char *cause_words(struct findings *findings, const struct report_verdict *verdict)
{
	const char *place = place_words(findings, verdict), *taken_by = takers(&findings->report);

	if (verdict->kind == VERDICT_CPU)
		return arena_printf(findings->arena, "; behind it: threads without a CPU%s%s",
				    taken_by ? ", while others ran: " : "", taken_by ? taken_by : "");
	if (!place)
		return "";
	if (verdict->kind == VERDICT_CODE)
		return arena_printf(findings->arena, "; behind it: %s%s runs",
				    words_collection(findings, verdict->cause_path, verdict->cause_frame_count),
				    place_clause(findings, verdict));
	return arena_printf(findings->arena, "; behind it: %s%s%s", place, verdict->object ? ", for " : "",
			    verdict->object ? words_object(findings, verdict->object) : "");
}

/* How sure it is, in words. */
static const char *main_label(const struct report_verdict *verdict)
{
	return verdict->confidence == CONFIDENCE_POSSIBLE ? "Perhaps the main bottleneck" : "Main bottleneck";
}

/* Of goroutines for whom the runtime's poller waits; "": it does not. */
static const char *poller_words(struct findings *findings, const struct report_verdict *verdict,
				const struct verdict_basis *basis)
{
	if (!basis->polled_for)
		return "";
	return arena_printf(findings->arena, "; on average %.1f goroutines wait for that in %s",
			    basis->polled_for->waiting, words_frame(findings, verdict->cause_path));
}

static const char *main_words(struct findings *findings, const struct report_verdict *verdict,
			      const struct verdict_basis *basis)
{
	const char *title = basis->finding->title, *program = verdict_program_words(findings, verdict->program);

	if (verdict->kind == VERDICT_DEADLOCK || verdict->kind == VERDICT_HANG)
		return arena_printf(findings->arena, "Main bottleneck: %s%s", program, title);
	if (basis->taken_by)
		return arena_printf(findings->arena, "%s (%s): %s%s, while others of the program run %s",
				    main_label(verdict), weight_words(findings, verdict, basis->finding), program,
				    title, place_words(findings, verdict));
	return arena_printf(findings->arena, "%s (%s): %s%s%s%s", main_label(verdict),
			    weight_words(findings, verdict, basis->finding), program, title,
			    basis->is_followed ? cause_words(findings, verdict) : "",
			    poller_words(findings, verdict, basis));
}

static const char *code_words(struct findings *findings, const struct report_verdict *verdict)
{
	const char *place = place_clause(findings, verdict);

	return arena_printf(findings->arena, "%s (%.0f %% of the wall time): %s%s runs while few others do",
			    main_label(verdict), 100 * verdict->share,
			    verdict_program_words(findings, verdict->program), place ? place : "code without a name");
}

/* --- Goroutines ------------------------------------------------------------------------------------ */

static const char *goroutine_place(struct findings *findings, const struct report_goroutine_wait *wait)
{
	if (wait->own_frame >= wait->frame_count)
		return words_name(findings, wait->what);
	return arena_printf(findings->arena, "%s, called by %s", words_name(findings, wait->what),
			    words_frame(findings, &wait->frames[wait->own_frame]));
}

/* What is behind a lock that goroutines wait for; "": that is not known. */
static const char *behind_goroutines(struct findings *findings, const struct report_verdict *verdict,
				     const struct verdict_basis *basis)
{
	if (basis->holder)
		return arena_printf(findings->arena, "; behind it: one of them waits in %s",
				    goroutine_place(findings, basis->holder));
	/* Where no code stands out, the path is theirs who wait. */
	if (verdict->kind != VERDICT_CODE || !place_words(findings, verdict))
		return "";
	return arena_printf(findings->arena, "; behind it: %s runs", place_clause(findings, verdict));
}

static const char *goroutine_words(struct findings *findings, const struct report_verdict *verdict,
				   const struct verdict_basis *basis)
{
	if (!basis->goroutines)
		return arena_printf(
			findings->arena,
			"Main bottleneck: on average %.1f goroutines that could run were not let: GOMAXPROCS "
			"is too small, or goroutines are switched too late",
			basis->go->runnable);
	return arena_printf(findings->arena, "Main bottleneck: on average %.1f goroutines waited in %s%s",
			    basis->goroutines->waiting, goroutine_place(findings, basis->goroutines),
			    behind_goroutines(findings, verdict, basis));
}

static const char *goroutine_evidence_words(struct findings *findings, const struct verdict_basis *basis)
{
	const struct report_go_process *go = basis->go;

	return arena_printf(
		findings->arena,
		"Evidence: %llu samples of goroutines: %.1f ran, %.1f could run, %.1f waited on average; it "
		"used %s",
		(unsigned long long)go->samples, go->running, go->runnable, go->waiting, cpus_words(findings));
}

/* --- What proves it -------------------------------------------------------------------------------- */

static void add_sentence(struct findings *findings, const char **words, size_t *count, const char *sentence)
{
	if (!sentence || *count == EVIDENCE_SENTENCES)
		return;
	*words = arena_printf(findings->arena, "%s%s%s", *words, (*count)++ ? "; " : "", sentence);
}

static const char *evidence_words(struct findings *findings, const struct verdict_basis *basis)
{
	const struct report_finding *finding = basis->finding;
	const struct report_blocked_on *on = finding->blocked_on;
	const char *words = "", *cpus = cpus_words(findings);
	size_t count = 0;

	add_sentence(findings, &words, &count, finding->evidence_count ? finding->evidence[0] : NULL);
	add_sentence(findings, &words, &count, verdict_disk_words(findings, finding));
	if (basis->is_followed && on->text)
		add_sentence(findings, &words, &count,
			     arena_printf(findings->arena, "what they waited for: %s", on->text));
	for (size_t i = 1; i < finding->evidence_count; i++)
		add_sentence(findings, &words, &count, finding->evidence[i]);
	return arena_printf(findings->arena, "Evidence: %s%sit used %s", words, count ? "; " : "", cpus);
}

static const char *code_evidence_words(struct findings *findings, const struct verdict_code *code)
{
	const char *in = words_samples(findings, code->path);

	return arena_printf(findings->arena, "Evidence: %s%son average %.1f threads were active; it used %s",
			    in ? in : "", in ? "; " : "", findings->report.totals.parallelism, cpus_words(findings));
}

/* --- What to try ----------------------------------------------------------------------------------- */

static const char *at_words(struct findings *findings, const struct report_verdict *verdict, const char *unknown)
{
	const char *place = place_words(findings, verdict);
	const char *object = verdict->object ? words_object(findings, verdict->object) : NULL;

	if (place && object)
		return arena_printf(findings->arena, "%s, for %s", place, object);
	return place ? place : object ? object : unknown;
}

/* The answer comes late, or what is sent is read late. */
static const char *network_words(struct findings *findings, const struct report_verdict *verdict)
{
	const char *place = place_words(findings, verdict);

	if (!verdict->object)
		return arena_printf(findings->arena, "look at the other end: %s",
				    place ? place : "--page io names the peers");
	return arena_printf(findings->arena, "see why %s keeps it waiting%s%s", words_object(findings, verdict->object),
			    place ? ", in " : "", place ? place : "");
}

static const char *process_words(struct findings *findings, const struct report_verdict *verdict,
				 const struct report_finding *finding)
{
	const struct report_blocker *blocker = verdict->blocker;

	if (finding && finding->pattern == PATTERN_SHORT_LIVED)
		return arena_printf(findings->arena, "keep some running, or let one do more at a time: %s",
				    at_words(findings, verdict, "the code that starts them"));
	if (blocker && blocker->pid)
		return arena_printf(findings->arena, "see what %s does: pinch attach -p %u", blocker->name,
				    blocker->pid);
	return arena_printf(findings->arena, "see what the other process does that is waited for: %s",
			    at_words(findings, verdict, "--page synchronisation,io names it"));
}

/* Where those are who end most of the waiting, as a rule who hold the lock; NULL: not known. */
static const char *ender_words(struct findings *findings, const struct report_finding *finding)
{
	const struct report *report = &findings->report;
	const struct report_wait *wait = finding && finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;
	const struct report_waker *waker = wait && wait->waker_count ? &wait->wakers[0] : NULL;

	if (!waker || waker->context != WAKER_THREAD || waker->share < ender_min)
		return NULL;
	return words_place(findings, waker->frames, waker->frame_count);
}

/* Whether a program that is not traced ended most of the waiting. */
static bool is_of_outsider(struct findings *findings, const struct report_finding *finding)
{
	const struct report *report = &findings->report;
	const struct report_wait *wait = finding && finding->wait_rank ? &report->waits[finding->wait_rank - 1] : NULL;

	return wait && wait->waker_count && wait->wakers[0].context == WAKER_PROCESS &&
	       wait->wakers[0].share >= ender_min;
}

static const char *lock_words(struct findings *findings, const struct report_verdict *verdict,
			      const struct report_finding *finding)
{
	const char *object = verdict->object ? words_object(findings, verdict->object) : "it";
	const char *ender = ender_words(findings, finding), *name = verdict->blocker ? verdict->blocker->name : NULL;
	enum wait_cause cause = finding ? finding->cause : CAUSE_LOCK;

	switch (cause) {
	case CAUSE_LOCK:
		if (name && is_of_outsider(findings, finding))
			return arena_printf(findings->arena, "see what %s does while it has %s", name, object);
		return arena_printf(findings->arena, "hold %s for less time, or take it less often%s%s", object,
				    ender ? "; it is released in " : "; --page locks says where", ender ? ender : "");
	case CAUSE_BARRIER:
		return arena_printf(findings->arena, "give its threads equal work: %s",
				    name ? arena_printf(findings->arena, "thread %s arrives last", name)
					 : "--page threads has that of each");
	case CAUSE_JOIN:
		return arena_printf(findings->arena, "see what is done by who is waited for: %s",
				    name ? arena_printf(findings->arena, "thread %s", name) : "--page threads");
	default:
		return arena_printf(findings->arena, "see why it is signalled so late%s%s",
				    ender ? ", in " : ": --page synchronisation says by whom", ender ? ender : "");
	}
}

/* A lock; or a channel that takes no more. */
static const char *goroutine_lock_words(struct findings *findings, const struct report_goroutine_wait *wait)
{
	const char *what = wait->kind == GOROUTINE_LOCK ? "hold it for less time, or take it less often"
							: "receive faster, or in more goroutines";

	return arena_printf(findings->arena, "%s: --page synchronisation has who waits in %s", what,
			    wait->own_frame < wait->frame_count ? words_frame(findings, &wait->frames[wait->own_frame])
								: words_name(findings, wait->what));
}

static const char *cpu_words(struct findings *findings, const struct report_verdict *verdict,
			     const struct verdict_basis *basis)
{
	if (basis->go && !basis->finding)
		return "a larger GOMAXPROCS, or none: --page synchronisation has the goroutines";
	if (findings->report.balance.threads.cpus_allowed)
		return "let its threads use more CPUs: taskset -pc says which they may use, and the cpuset of its cgroup";
	/* Of any other finding it is who holds what is waited for. */
	if (verdict->blocker && basis->finding && basis->finding->pattern == PATTERN_CPU_WAIT)
		return arena_printf(
			findings->arena, "let %s%s have other CPUs, or less of them", verdict->blocker->name,
			verdict->blocker->pid ? arena_printf(findings->arena, " (%s)",
							     findings_pid_words(findings, verdict->blocker->pid))
					      : "");
	return "more CPUs, fewer threads, or less beside it: pinch whatif --cpus says what one more would gain";
}

static const char *file_words(struct findings *findings, const struct report_verdict *verdict,
			      const struct report_finding *finding)
{
	const struct report_storage_user *neighbour = finding ? verdict_disk_neighbour(findings, finding) : NULL;
	const char *at = at_words(findings, verdict, "--page io says where");

	if (!neighbour)
		return arena_printf(findings->arena, "fewer or larger requests to the disk: %s", at);
	return arena_printf(findings->arena, "see what %s (%s) does with the disk; or fewer or larger requests: %s",
			    neighbour->name, findings_pid_words(findings, neighbour->pid), at);
}

static const char *limit_words(struct findings *findings, const struct report_verdict *verdict,
			       const struct report_memory_limit *limit)
{
	return arena_printf(findings->arena, "raise the memory limit of cgroup %s, or use less: %s",
			    words_object(findings, limit->cgroup),
			    at_words(findings, verdict, "--page io says what is read"));
}

/* What else can be done with code than to make it faster. */
static const char *code_change_words(const struct verdict_basis *basis)
{
	if (basis->finding && basis->finding->pattern == PATTERN_EVENT_LOOP)
		return "let other threads do it, for all else that the loop serves waits meanwhile";
	if (basis->taken_by)
		return "give the program more CPUs (pinch whatif --cpus says what one more would gain)";
	return basis->is_followed || basis->go ? "take it out of what others wait for"
					       : "let several threads do parts of it";
}

static const char *collection_words(struct findings *findings, const struct report_collection *collection)
{
	return collection->caller ? arena_printf(findings->arena, "%s; most is begun in %s", collection->advice,
						 collection->caller)
				  : collection->advice;
}

static const char *accept_words(struct findings *findings, const struct report_listener *listener)
{
	if (patterns_is_slow_to_accept(listener))
		return "accept sooner: in more threads or processes, or do less between one accept() and the next; "
		       "--page threads says what they do";
	return arena_printf(findings->arena,
			    "let more connections wait there: a larger backlog for listen(), in the configuration of "
			    "%s as a rule, and net.core.somaxconn (/proc/sys) as large",
			    listener->name);
}

static const char *advice(struct findings *findings, const struct report_verdict *verdict,
			  const struct verdict_basis *basis)
{
	switch (verdict->kind) {
	case VERDICT_CODE:
		if (collector_behind(verdict))
			return collector_behind(verdict)->advice;
		return arena_printf(findings->arena, "make %s faster, or %s",
				    place_words(findings, verdict) ? place_clause(findings, verdict)
								   : "the code under --page paths",
				    code_change_words(basis));
	case VERDICT_LOCK:
		return basis->goroutines ? goroutine_lock_words(findings, basis->goroutines)
					 : lock_words(findings, verdict, basis->finding);
	case VERDICT_FILE:
		return file_words(findings, verdict, basis->finding);
	case VERDICT_NETWORK:
		if (basis->finding && basis->finding->listener)
			return accept_words(findings, basis->finding->listener);
		return network_words(findings, verdict);
	case VERDICT_TIMER:
		return arena_printf(findings->arena, "shorten the sleep, or wait for the event itself: %s",
				    at_words(findings, verdict, "--page synchronisation says where"));
	case VERDICT_PROCESS:
		return process_words(findings, verdict, basis->finding);
	case VERDICT_MEMORY:
		if (basis->finding && basis->finding->collection)
			return collection_words(findings, basis->finding->collection);
		if (basis->finding && basis->finding->memory_limit)
			return limit_words(findings, verdict, basis->finding->memory_limit);
		return arena_printf(findings->arena, "touch less memory, or have it read before: %s",
				    at_words(findings, verdict, "--page io says where"));
	case VERDICT_KERNEL_LOCK:
		return arena_printf(findings->arena, "pinch klock says who holds it: %s",
				    at_words(findings, verdict, "all of them are there"));
	case VERDICT_CPU:
		return cpu_words(findings, verdict, basis);
	case VERDICT_CPU_LIMIT:
		return "raise the CPU limit of the cgroup (cpu.max), or use fewer threads";
	case VERDICT_SPIN:
		return arena_printf(findings->arena, "let threads sleep until it is done: %s",
				    at_words(findings, verdict, "--page paths says where"));
	case VERDICT_DEADLOCK:
		return "take these locks in one order everywhere; the finding has the call paths of both";
	case VERDICT_HANG:
		return arena_printf(findings->arena, "find out who was to wake them, and why it did not: %s",
				    at_words(findings, verdict, "the finding says where they wait"));
	case VERDICT_NONE:
		break;
	}
	return "";
}

/* --- Nothing --------------------------------------------------------------------------------------- */

/* "both CPUs", "its 8 CPUs" */
static const char *all_cpus_words(struct findings *findings)
{
	unsigned int count = findings->report.target.cpu_count;

	return count == 1 ? "the CPU" : count == 2 ? "both CPUs" : arena_printf(findings->arena, "all %u CPUs", count);
}

/* The host, or what else outside, that it waited for most of the time, without a request that is known; NULL: none. */
static const char *awaited(const struct report *report)
{
	const struct report_wait *longest = NULL;

	for (size_t i = 0; i < report->wait_count; i++)
		if (!longest || report->waits[i].wait_ns > longest->wait_ns)
			longest = &report->waits[i];
	return longest && longest->cause == CAUSE_SOCKET ? longest->object : NULL;
}

/* ", 84 % of it in f (a.c:3) and what it calls"; "": in nothing that has most of it. */
static const char *busiest_words(struct findings *findings)
{
	const struct report_code *code = &findings->report.code;

	return code->busiest ? arena_printf(findings->arena, ", %.0f %% of it in %s and what it calls",
					    100 * code->busiest_share, words_frame(findings, code->busiest))
			     : "";
}

/*
 * Of threads that wait for most of the time for another one, which sleeps meanwhile: whether they want something of it, or are
 * woken now and then for want of anything to do, no record tells. NULL: there are none.
 */
static const char *ticked_words(struct findings *findings)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];
		const struct report_blocked_on *on = wait->blocked_on;
		const struct report_blocked_wait *end = on && on->wait_count ? &on->waits[0] : NULL;
		const char *from, *to, *caller;

		/* Where a pool waits for work, all is idle. */
		if (!end || wait->idle_ns >= wait->wait_ns || wait->wait_ns < idle_min * report->target.wall_ns ||
		    end->ns < slept_min * on->ns ||
		    (end->cause != CAUSE_SLEEP && end->cause != CAUSE_CONDITION && end->cause != CAUSE_SEMAPHORE))
			continue;
		from = words_any_place(findings, wait->frames, wait->frame_count);
		to = words_any_place(findings, end->frames, end->frame_count);
		caller = words_place_caller(findings, end->frames, end->frame_count);
		if (from && to)
			return arena_printf(findings->arena,
					    "Try next: if those who wait in %s want an answer, shorten the sleep that "
					    "they wait for: %s%s%s",
					    from, to, caller ? ", called by " : "", caller ? caller : "");
	}
	return NULL;
}

static void put_nothing(struct findings *findings, const char **lines)
{
	const struct report *report = &findings->report;
	const struct report_thread_balance *threads = &report->balance.threads;
	double idle = 1 - share_of(report->totals.active_ns, report->target.wall_ns);
	const char *peer = awaited(report);

	if (threads->running_ns >= full_min * report->target.cpu_count * report->target.wall_ns &&
	    report->target.cpu_count)
		lines[0] = arena_printf(findings->arena, "Nothing held it back: it used %s fully%s",
					all_cpus_words(findings), busiest_words(findings));
	else if (idle >= idle_min)
		lines[0] = arena_printf(
			findings->arena, "Nothing held it back: it was idle for %.0f %% of the time%s%s", 100 * idle,
			peer ? ", most of which it waited for " : "", peer ? words_object(findings, peer) : "");
	else if (report->totals.samples < SAMPLES_MIN)
		lines[0] =
			arena_printf(findings->arena,
				     "Nothing held it back for long: it ran for %s in all, too little for samples to "
				     "say where",
				     words_duration(findings, threads->running_ns));
	else
		lines[0] = arena_printf(findings->arena,
					"Nothing held it back: no wait and no code stands out; it used %s",
					cpus_words(findings));
	lines[1] = arena_printf(findings->arena,
				"Evidence: all threads together ran for %.1f %% of their time, waited for a CPU for "
				"%.1f %% and had nothing to do for %.1f %%; it used %s",
				100 * share_of(threads->running_ns, threads->total_ns),
				100 * share_of(threads->cpu_wait_ns, threads->total_ns),
				100 * share_of(threads->total_ns - threads->busy_ns, threads->total_ns),
				cpus_words(findings));
	lines[2] = idle >= idle_min ? ticked_words(findings) : NULL;
	if (!lines[2])
		lines[2] = idle >= idle_min
				   ? "Try next: look at its clients, or trace it while it is slow"
				   : "Try next: -v shows the code that ran; --page threads, how even its threads are";
}

void verdict_put_lines(struct findings *findings, struct report_verdict *verdict, const struct verdict_basis *basis)
{
	const struct report *report = &findings->report;
	const char **lines = arena_alloc(findings->arena, LINES * sizeof(*lines));

	verdict->lines = lines;
	verdict->line_count = LINES;
	if (!report->target.wall_ns || !report->totals.threads) {
		lines[0] = "No thread of the program ran while it was traced";
		lines[1] = "Evidence: there is no event of its threads";
		lines[2] = "Try next: trace for longer, or see that it is the process that works";
		return;
	}
	if (verdict->kind == VERDICT_NONE) {
		put_nothing(findings, lines);
		return;
	}
	if (basis->finding) {
		lines[0] = main_words(findings, verdict, basis);
		lines[1] = evidence_words(findings, basis);
	} else if (basis->go) {
		lines[0] = goroutine_words(findings, verdict, basis);
		lines[1] = goroutine_evidence_words(findings, basis);
	} else {
		lines[0] = code_words(findings, verdict);
		lines[1] = code_evidence_words(findings, &basis->code);
	}
	lines[2] = arena_printf(findings->arena, "Try next: %s", advice(findings, verdict, basis));
}
