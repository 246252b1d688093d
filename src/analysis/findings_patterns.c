/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands out: patterns that a performance engineer has a name for, each with what speaks for it.
 * Read off the finished report; the bounds are in doc/metrics.md.
 */
#include "analysis/findings_waits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/fold.h"
#include "base/text.h"

enum { FINDINGS_MAX = 64, EVIDENCE_MAX = 6, SENTENCE_BYTES = 1024, NAME_BYTES = 96 };

/* A finding below this share of all threads' time is none. */
static const double share_min = 0.03;

struct draft {
	struct report_finding rows[FINDINGS_MAX];
	const char *evidence[FINDINGS_MAX][EVIDENCE_MAX];
	size_t count;
};

static double share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static struct report_finding *add(struct findings *findings, struct draft *draft,
				  const char *pattern, const char *cause, double share,
				  const char *format, ...) __attribute__((format(printf, 6, 7)));

/* NULL when there are enough of them. */
static struct report_finding *add(struct findings *findings, struct draft *draft,
				  const char *pattern, const char *cause, double share,
				  const char *format, ...)
{
	struct report_finding *row = &draft->rows[draft->count];
	char title[SENTENCE_BYTES];
	va_list args;

	if (draft->count == FINDINGS_MAX)
		return NULL;
	va_start(args, format);
	vsnprintf(title, sizeof(title), format, args);
	va_end(args);
	row->title = arena_strdup(findings->arena, title);
	row->pattern = pattern;
	row->cause = cause;
	row->share = share;
	row->evidence = draft->evidence[draft->count++];
	return row;
}

static void say(struct findings *findings, struct report_finding *row, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Adds a sentence to the evidence; row may be NULL. */
static void say(struct findings *findings, struct report_finding *row, const char *format, ...)
{
	char sentence[SENTENCE_BYTES];
	va_list args;

	if (!row || row->evidence_count == EVIDENCE_MAX)
		return;
	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	((const char **)row->evidence)[row->evidence_count++] = arena_strdup(findings->arena, sentence);
}

/* As long as a sentence can bear: if need be with template arguments and parameters left out. */
static const char *short_name(struct findings *findings, const char *name)
{
	char cut[NAME_BYTES + 1];
	size_t length = 0;
	int depth = 0;

	if (strlen(name) <= NAME_BYTES / 2)
		return name;
	for (; *name && length < NAME_BYTES; name++) {
		if (*name == '>' || *name == ')')
			depth -= depth > 0;
		if (!depth)
			cut[length++] = *name;
		if (*name == '<' || *name == '(')
			depth++;
	}
	cut[length] = '\0';
	return arena_strdup(findings->arena, cut);
}

/* The name of a variable or a file; of a long one, its begin and its end. */
static const char *short_object(struct findings *findings, const char *name)
{
	size_t begin = NAME_BYTES / 3, end = strlen(name);

	if (end <= NAME_BYTES)
		return name;
	end -= NAME_BYTES - begin;
	/* Not within a character. */
	while (begin && (name[begin] & 0xc0) == 0x80)
		begin--;
	while ((name[end] & 0xc0) == 0x80)
		end++;
	return arena_printf(findings->arena, "%.*s...%s", (int)begin, name, name + end);
}

const char *findings_frame_text(struct findings *findings, const struct report_frame *frame)
{
	const char *file;

	if (!frame->function)
		return arena_printf(findings->arena, "%s+0x%llx", frame->module ? frame->module : "?",
				    (unsigned long long)frame->offset);
	if (!frame->file || !frame->line)
		return short_name(findings, frame->function);
	file = strrchr(frame->file, '/');
	return arena_printf(findings->arena, "%s (%s:%u)", short_name(findings, frame->function),
			    file ? file + 1 : frame->file, frame->line);
}

/* NULL when no function is known that says anything. */
static const char *place(struct findings *findings, const struct report_frame *frames, size_t count)
{
	const struct report_frame *frame = fold_find_headline(findings->input.fold, frames, count);

	return frame && frame->function ? findings_frame_text(findings, frame) : NULL;
}

static const char *duration(struct findings *findings, uint64_t time_ns)
{
	struct text text = { 0 };
	const char *copy;

	text_put_duration(&text, time_ns);
	copy = arena_strdup(findings->arena, text.bytes);
	text_fini(&text);
	return copy;
}

/* "1 wait", "17 waits". */
static const char *counted(struct findings *findings, uint64_t count, const char *thing)
{
	return arena_printf(findings->arena, "%llu %s%s", (unsigned long long)count, thing,
			    count == 1 ? "" : "s");
}

/* "3 waits of 2 ms in the mean and 4 ms at most" */
static const char *lengths(struct findings *findings, uint64_t count, uint64_t wait_ns,
			   uint64_t max_ns)
{
	if (count < 2)
		return arena_printf(findings->arena, "%s of %s", counted(findings, count, "wait"),
				    duration(findings, wait_ns));
	return arena_printf(findings->arena, "%s of %s in the mean and %s at most",
			    counted(findings, count, "wait"), duration(findings, wait_ns / count),
			    duration(findings, max_ns));
}

static const char *lock_title(struct findings *findings, const struct report_lock *lock)
{
	if (lock->name)
		return short_object(findings, lock->name);
	if (lock->where)
		return arena_printf(findings->arena, "a %s in %s", lock->kind,
				    short_name(findings, lock->where));
	return arena_printf(findings->arena, "the %s at %s", lock->kind, lock->object);
}

static bool is_kind(const struct report_lock *lock, const char *kind)
{
	return !strcmp(lock->kind, kind);
}

/* What a thread takes for a while, and others cannot have meanwhile. */
static bool is_held(const struct report_lock *lock)
{
	static const char *const kinds[] = {
		"mutex", "rwlock", "pi-mutex", "tbb", "monitor", "once", "futex", "flock",
		"file-lock", "sysv-semaphore",
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (is_kind(lock, kinds[i]))
			return true;
	return false;
}

/* The one that others waited for longest, which need not let go of it most often. */
static const struct report_waker *worst_unlocker(const struct report_lock *lock)
{
	const struct report_waker *worst = NULL;

	for (size_t i = 0; i < lock->unlocker_count; i++)
		if (!worst || lock->unlockers[i].lost_ns > worst->lost_ns)
			worst = &lock->unlockers[i];
	return worst;
}

static uint64_t count_of_unlocks(const struct report_lock *lock)
{
	uint64_t count = 0;

	for (size_t i = 0; i < lock->unlocker_count; i++)
		count += lock->unlockers[i].count;
	return count;
}

/* Few of the unlocks end most of the waiting: the others hold it only for a moment. */
static bool has_rare_holder(const struct report_lock *lock, const struct report_waker *worst)
{
	return worst && lock->unlocker_count > 1 && worst->share >= 0.5 &&
	       worst->count * 4 <= count_of_unlocks(lock);
}

static const char *held_pattern(const struct report_lock *lock, const struct report_waker *worst)
{
	uint64_t hold_ns = lock->holds ? lock->hold_ns / lock->holds : 0;

	if (has_rare_holder(lock, worst))
		return "rare-slow-holder";
	if (lock->queue_max >= 3 && lock->waits >= 100 && hold_ns < 1000000 &&
	    lock->wait_ns / lock->waits >= hold_ns)
		return "convoy";
	return "contended-lock";
}

static uint32_t wait_rank_of(const struct findings *findings, const char *cause, const char *object)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->wait_count; i++)
		if (!strcmp(report->waits[i].cause, cause) &&
		    (!object || (report->waits[i].object && !strcmp(report->waits[i].object, object))))
			return i + 1;
	return 0;
}

static void say_lock(struct findings *findings, struct report_finding *row,
		     const struct report_lock *lock, const struct report_waker *worst)
{
	say(findings, row, lock->queue_max > 1 ? "%s; up to %s at once" : "%s",
	    lengths(findings, lock->waits, lock->wait_ns, lock->max_ns),
	    counted(findings, lock->queue_max, "thread"));
	if (!lock->holds && lock->holder)
		say(findings, row, "held by thread %s", lock->holder);
	if (lock->holds)
		say(findings, row, "held for %s in the mean while somebody waited%s%s",
		    duration(findings, lock->hold_ns / lock->holds),
		    lock->holder ? ", mostly by thread " : "", lock->holder ? lock->holder : "");
	if (worst && place(findings, worst->frames, worst->frame_count))
		say(findings, row, "%.0f %% of the waiting ended when %s let go of it, %llu of %llu times",
		    100 * worst->share, place(findings, worst->frames, worst->frame_count),
		    (unsigned long long)worst->count, (unsigned long long)count_of_unlocks(lock));
}

static void add_held(struct findings *findings, struct draft *draft, const struct report_lock *lock,
		     double share)
{
	const struct report_waker *worst = worst_unlocker(lock);
	const char *where = worst ? place(findings, worst->frames, worst->frame_count) : NULL;
	const char *pattern = held_pattern(lock, worst), *name = lock_title(findings, lock);
	struct report_finding *row;

	if (!strcmp(pattern, "rare-slow-holder"))
		row = add(findings, draft, pattern, "lock", share,
			  "threads wait for %s behind a rare but slow holder%s%s", name,
			  where ? ": " : "", where ? where : "");
	else if (!strcmp(pattern, "convoy"))
		row = add(findings, draft, pattern, "lock", share,
			  "a convoy: up to %llu threads at once wait for %s, which is held only "
			  "shortly but all the time", (unsigned long long)lock->queue_max, name);
	else
		row = add(findings, draft, pattern, "lock", share, "%s for %s%s%s",
			  lock->queue_max > 1
				  ? arena_printf(findings->arena, "up to %llu threads wait",
						 (unsigned long long)lock->queue_max)
				  : "a thread waits",
			  name, where ? ", held mostly in " : "", where ? where : "");
	if (row)
		row->wait_rank = wait_rank_of(findings, "lock", lock->name);
	say_lock(findings, row, lock, worst);
}

/* The path by which a thread spends most of its time. */
static const struct report_path *path_of_thread(const struct findings *findings, const char *name)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->path_count; i++)
		for (size_t k = 0; k < report->paths[i].thread_name_count; k++)
			if (!strcmp(report->paths[i].thread_names[k], name))
				return &report->paths[i];
	return NULL;
}

static void add_barrier(struct findings *findings, struct draft *draft,
			const struct report_lock *lock, double share)
{
	bool has_straggler = lock->ender && lock->ender_share >= 0.6 && lock->waits >= 4;
	const char *name = lock_title(findings, lock), *where = NULL;
	const struct report_path *path;
	struct report_finding *row;

	if (!has_straggler) {
		row = add(findings, draft, "uneven-barrier", "barrier", share,
			  "threads wait for each other at %s", name);
	} else {
		path = path_of_thread(findings, lock->ender);
		where = path ? place(findings, path->frames, path->frame_count) : NULL;
		row = add(findings, draft, "barrier-straggler", "barrier", share,
			  "at %s all wait for thread %s, which comes last", name, lock->ender);
		say(findings, row, "%.0f %% of the waiting ended when thread %s came",
		    100 * lock->ender_share, lock->ender);
		if (where)
			say(findings, row, "meanwhile it was mostly in %s", where);
	}
	if (row)
		row->wait_rank = wait_rank_of(findings, "barrier", NULL);
	say(findings, row, "%s", lengths(findings, lock->waits, lock->wait_ns, lock->max_ns));
}

/* Several are called for what one of them can have. */
static void add_vain(struct findings *findings, struct draft *draft, const struct report_lock *lock)
{
	struct report_finding *row;

	if (is_held(lock) || is_kind(lock, "join") || is_kind(lock, "idle") ||
	    lock->is_waiters || lock->vain_count < 20 ||
	    lock->vain_count * 3 < lock->waits)
		return;
	row = add(findings, draft, lock->queue_max >= 4 ? "thundering-herd" : "false-wake-ups",
		  "condition", share_of(lock->wait_ns - lock->idle_ns,
					findings->report.balance.thread_ns),
		  "%llu of %llu wake-ups from %s were in vain: several threads were called at once, "
		  "and waited again", (unsigned long long)lock->vain_count,
		  (unsigned long long)lock->waits, lock_title(findings, lock));
	say(findings, row, "up to %s at once", counted(findings, lock->queue_max, "thread"));
}

static void add_locks(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->lock_count; i++) {
		const struct report_lock *lock = &report->locks[i];
		double share = share_of(lock->wait_ns - lock->idle_ns, report->balance.thread_ns);

		add_vain(findings, draft, lock);
		if (share < share_min || !lock->waits || lock->is_waiters)
			continue;
		if (is_held(lock))
			add_held(findings, draft, lock, share);
		else if (is_kind(lock, "barrier"))
			add_barrier(findings, draft, lock, share);
	}
}

/*
 * A thread that has nothing to do but to wait for the end of those that do the work, as main() of many
 * programs, is no finding.
 */
static bool is_mere_parent(const struct report *report, const struct report_wait *wait, double share)
{
	return (!strcmp(wait->cause, "join") || !strcmp(wait->cause, "child")) &&
	       report->totals.alive_max >= 3 && share <= 1.2 / report->totals.alive_max;
}

/* What threads wait for that is no lock: one finding a cause and place. */
static const char *wait_title(struct findings *findings, const struct report_wait *wait,
			      const char *object)
{
	const struct report_waker *waker = wait->waker_count ? &wait->wakers[0] : NULL;
	const char *where = place(findings, wait->frames, wait->frame_count);
	const char *by = waker && waker->frame_count
				 ? place(findings, waker->frames, waker->frame_count) : NULL;
	const char *in = where ? arena_printf(findings->arena, " in %s", where) : "";
	const char *what = object ? arena_printf(findings->arena, " %s",
						 short_object(findings, object)) : "";

	if (!strcmp(wait->cause, "condition") || !strcmp(wait->cause, "semaphore"))
		return arena_printf(findings->arena, "threads wait for a %s%s%s%s%s", wait->cause, what,
				    in, by ? ", signalled in " : "", by ? by : "");
	if (wait->kind)
		return arena_printf(findings->arena, "threads wait for %ss%s%s%s", wait->kind, in,
				    by ? ", let go of in " : "", by ? by : "");
	if (!strcmp(wait->cause, "join"))
		return arena_printf(findings->arena, "threads wait%s for others to end", in);
	if (!strcmp(wait->cause, "page-fault"))
		return arena_printf(findings->arena, "threads wait%s for pages to be read", in);
	if (!strcmp(wait->cause, "kernel-lock"))
		return arena_printf(findings->arena, "threads wait%s for locks of the kernel", in);
	if (!strcmp(wait->cause, "child"))
		return arena_printf(findings->arena, "threads wait%s for child processes", in);
	if (!strcmp(wait->cause, "sleep"))
		return arena_printf(findings->arena, "threads sleep%s", in);
	if (!strcmp(wait->cause, "poll"))
		return arena_printf(findings->arena, "threads poll descriptors%s%s%s", in,
				    by ? ", woken in " : "", by ? by : "");
	return arena_printf(findings->arena, "threads wait for %s%s%s%s", wait->cause, object ? "" : "s",
			    what, in);
}

/* Waits that read the same: of one kind of lock whose waiters sleep on something of their own, or equal titles. */
struct alike {
	const char *kind, *title;
	const struct report_wait *heaviest;
	uint32_t rank;
	uint64_t lost_ns, idle_ns, count, max_ns, places;
};

/* Of files and sockets one place may wait for any number, each time for another. */
static bool has_many_objects(const struct report_wait *wait)
{
	return !strcmp(wait->cause, "file") || !strcmp(wait->cause, "socket");
}

static struct alike *find_alike(struct findings *findings, struct alike *rows, size_t *count,
				const struct report_wait *wait)
{
	const char *title = wait_title(findings, wait, has_many_objects(wait) ? NULL : wait->object);

	for (size_t i = 0; i < *count; i++)
		if (wait->kind ? rows[i].kind && !strcmp(rows[i].kind, wait->kind)
			       : !rows[i].kind && !strcmp(rows[i].title, title))
			return &rows[i];
	if (*count == FINDINGS_MAX)
		return NULL;
	rows[*count] = (struct alike){ .kind = wait->kind, .title = title, .heaviest = wait };
	return &rows[(*count)++];
}

static void add_alike(struct findings *findings, struct draft *draft, const struct alike *alike)
{
	const struct report_wait *wait = alike->heaviest;
	double thread_ns = findings->report.balance.thread_ns;
	double share = share_of(alike->lost_ns - alike->idle_ns, thread_ns);
	struct report_finding *row;
	const char *title;

	if (share < share_min || is_mere_parent(&findings->report, wait, share))
		return;
	title = alike->places == 1 ? wait_title(findings, wait, wait->object) : alike->title;
	row = add(findings, draft, "wait", wait->cause, share, "%s", title);
	if (row)
		row->wait_rank = alike->rank;
	say(findings, row, "%s", lengths(findings, alike->count, alike->lost_ns, alike->max_ns));
	if (alike->places > 1)
		say(findings, row, "%llu rows of the waits; the heaviest has %.0f %% of it%s%s",
		    (unsigned long long)alike->places,
		    100 * share_of(wait->lost_ns - wait->idle_ns, alike->lost_ns - alike->idle_ns),
		    wait->object ? ": " : "", wait->object ? wait->object : "");
}

static void add_waits(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	struct alike rows[FINDINGS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];
		struct alike *alike;

		/* So many that are smaller do not read the same. */
		if (share_of(wait->lost_ns - wait->idle_ns, report->balance.thread_ns) < share_min / 30)
			break;
		if ((!strcmp(wait->cause, "lock") && !wait->kind) || !strcmp(wait->cause, "barrier"))
			continue;	/* by lock */
		alike = find_alike(findings, rows, &count, wait);
		if (!alike)
			break;
		if (!alike->places++)
			alike->rank = i + 1;
		alike->lost_ns += wait->lost_ns;
		alike->idle_ns += wait->idle_ns;
		alike->count += wait->count;
		if (wait->max_ns > alike->max_ns)
			alike->max_ns = wait->max_ns;
	}
	for (size_t i = 0; i < count; i++)
		add_alike(findings, draft, &rows[i]);
}

/* Whether the others wait meanwhile, and not just have nothing to do. */
static bool do_others_wait(const struct report *report, double alone_ns)
{
	double others = share_of(report->balance.thread_ns, report->target.wall_ns) - 1;
	double waited_ns = 0;

	for (size_t i = 0; i < report->balance.cause_count; i++) {
		const struct report_cause *cause = &report->balance.causes[i];

		if (!cause->is_active)
			waited_ns += cause->lost_ns - cause->idle_ns;
	}
	return waited_ns >= 0.3 * alone_ns * others;
}

/* One thread alone is active for long, and more are there. */
static void add_serial(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	double alone_ns = report->parallelism_count > 1 ? report->parallelism_ns[1] : 0;
	double share = share_of(alone_ns, report->target.wall_ns);
	const struct report_path *path = report->path_count ? &report->paths[0] : NULL;
	struct report_finding *row;
	const char *where;

	if (report->totals.alive_max < 3 || share < 0.3 || !path ||
	    path->cmetric_ns < 0.5 * alone_ns || !do_others_wait(report, alone_ns))
		return;
	where = place(findings, path->frames, path->frame_count);
	row = add(findings, draft, "serial-phase", path->cause, share * (1 - 1.0 / report->totals.alive_max),
		  "for %.0f %% of the wall time only one thread was active%s%s", 100 * share,
		  where ? ", mostly in " : "", where ? where : "");
	if (row)
		row->path_rank = 1;
	say(findings, row, "that path has %.0f %% of the wall time", 100 * path->wall_share);
}

/* One thread of a pool does most of its work. */
static void add_hot(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;

	for (size_t i = 0; i < report->group_count; i++) {
		const struct report_group *group = &report->groups[i];
		const struct report_thread *top = group->threads;
		struct report_finding *row;
		double share;

		if (group->thread_count < 3 || group->imbalance < 2 || top->thread_count != 1)
			continue;
		share = share_of(top->cmetric_ns, report->target.wall_ns);
		if (share < 0.3 || top->cmetric_ns < 0.5 * group->cmetric_ns)
			continue;
		row = add(findings, draft, "hot-thread", "on-cpu",
			  share * (1 - 1.0 / group->thread_count),
			  "of %llu threads of one kind, %s does most of the work",
			  (unsigned long long)group->thread_count,
			  *top->name ? top->name : "one");
		say(findings, row, "thread %u (%s) carries %.1f times the mean of %s", top->tid, top->name,
		    group->imbalance, group->name);
	}
}

/* Waiting for a CPU that somebody else had. */
static uint64_t cpu_wait_ns(const struct report *report)
{
	return report->balance.runqueue_ns - report->balance.throttled_ns;
}

/* Adds a part to a list, unless it is next to nothing. */
static const char *with_rival(struct findings *findings, const char *list, uint64_t part_ns,
			      const char *who)
{
	double share = share_of(part_ns, cpu_wait_ns(&findings->report));

	if (share < 0.01)
		return list;
	return arena_printf(findings->arena, "%s%s%.0f %% %s", list, *list ? ", " : "", 100 * share,
			    who);
}

/* Who had the CPUs: each of the processes that had them most, and all others of a kind together. */
static void say_rivals(struct findings *findings, struct report_finding *row)
{
	enum { PROCESSES_NAMED = 3 };
	const struct report *report = &findings->report;
	uint64_t program_ns = 0, process_ns = 0, kernel_ns = 0;
	const char *processes = "", *list;
	size_t named = 0;

	for (size_t i = 0; i < report->balance.rival_count; i++) {
		const struct report_rival *rival = &report->balance.rivals[i];

		if (!strcmp(rival->kind, "program"))
			program_ns += rival->wait_ns;
		else if (!strcmp(rival->kind, "kernel"))
			kernel_ns += rival->wait_ns;
		else if (strcmp(rival->kind, "process") != 0)
			continue;
		else if (rival->name && named++ < PROCESSES_NAMED)
			processes = with_rival(findings, processes, rival->wait_ns,
					       arena_printf(findings->arena, "%s (pid %u)",
							    rival->name, rival->pid));
		else
			process_ns += rival->wait_ns;
	}
	list = with_rival(findings, "", program_ns, "threads of the program itself");
	if (*processes)
		list = *list ? arena_printf(findings->arena, "%s, %s", list, processes) : processes;
	list = with_rival(findings, list, process_ns, "other processes");
	list = with_rival(findings, list, kernel_ns, "threads of the kernel");
	if (*list)
		say(findings, row, "on the CPUs instead: %s", list);
}

/* More threads could run than there are CPUs for. */
static void add_runqueue(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	double active_ns = report->balance.running_ns + cpu_wait_ns(report);
	double share = share_of(cpu_wait_ns(report), report->balance.thread_ns);
	struct report_finding *row;

	if (share < 0.05 || cpu_wait_ns(report) < 0.25 * active_ns)
		return;
	row = add(findings, draft, "run-queue", "preempted", share,
		  "threads that could run spend %.0f %% of that time waiting for a CPU",
		  100 * share_of(cpu_wait_ns(report), active_ns));
	say(findings, row, "%.1f threads were active in the mean, %.1f of them on a CPU",
	    report->totals.parallelism, share_of(report->balance.running_ns, report->target.wall_ns));
	say_rivals(findings, row);
}

/* A cgroup may not use more of the CPUs than it is allowed to. */
static void add_throttled(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	double share = share_of(report->balance.throttled_ns, report->balance.thread_ns);
	struct report_finding *row;

	if (share < share_min)
		return;
	row = add(findings, draft, "cpu-limit", "throttled", share,
		  "the CPU limit of the cgroup stops threads for %.0f %% of the time in which they could run",
		  100 * share_of(report->balance.throttled_ns,
				 report->balance.running_ns + report->balance.runqueue_ns));
	say(findings, row, "they used %.2f CPUs in the mean, and were stopped for up to %s at once",
	    share_of(report->balance.running_ns, report->target.wall_ns),
	    duration(findings, report->balance.throttled_max_ns));
}

/* Threads that wait with their CPUs. */
static void add_spins(struct findings *findings, struct draft *draft)
{
	draft->count += findings_put_spins(findings, draft->rows + draft->count,
					   FINDINGS_MAX - draft->count);
}

static int findings_by_share(const void *a, const void *b)
{
	const struct report_finding *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return strcmp(x->title, y->title);
}

void findings_add_patterns(struct findings *findings)
{
	struct draft *draft = xcalloc(1, sizeof(*draft));
	struct report_finding *rows;

	add_locks(findings, draft);
	add_waits(findings, draft);
	add_serial(findings, draft);
	add_hot(findings, draft);
	add_runqueue(findings, draft);
	add_throttled(findings, draft);
	add_spins(findings, draft);
	qsort(draft->rows, draft->count, sizeof(*draft->rows), findings_by_share);
	rows = arena_alloc(findings->arena, draft->count * sizeof(*rows));
	for (size_t i = 0; i < draft->count; i++) {
		size_t bytes = draft->rows[i].evidence_count * sizeof(const char *);

		rows[i] = draft->rows[i];
		rows[i].evidence = memcpy(arena_alloc(findings->arena, bytes + 1), rows[i].evidence,
					  bytes);
	}
	findings->report.findings = rows;
	findings->report.finding_count = draft->count;
	free(draft);
}
