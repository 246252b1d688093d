/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Findings of waits for anything but locks. */
#include "account/run_samples.h"
#include "findings/blame/blame.h"
#include "findings/names/runtime_locks.h"
#include "findings/parts/findings_waits.h"
#include "findings/patterns/draft.h"
#include "findings/patterns/file_group.h"
#include "report/report_cause.h"

#include <string.h>

/*
 * A thread that has nothing to do but to wait for the end of those that do the work, as main() of many
 * programs, is not a finding.
 */
static bool is_mere_parent(const struct report *report, const struct report_wait *wait, uint64_t lost_ns)
{
	return (wait->cause == CAUSE_JOIN || wait->cause == CAUSE_CHILD) && report->totals.alive_max >= 3 &&
	       lost_ns <= 1.2 * report->target.wall_ns;
}

/* Whether those who are waited for wait themselves most of the time, for what no thread gives them: a sleep, a disk, a peer. */
static bool leads_outside(const struct blame_part *blame)
{
	static const double most_min = 0.5;
	const struct report_root *root = blame ? blame->root : NULL;
	double lost_ns = 0;

	for (const struct blame_part *part = blame; part; part = part->next)
		lost_ns += part->ns;
	return root && root->kind == ROOT_WAIT && root->ns > root->direct_ns && blame->ns >= most_min * lost_ns &&
	       wait_cause_group(root->cause) != GROUP_SYNCHRONISATION;
}

/* Where it is, with the caller if that is wanted and known. */
static const char *place_words(struct findings *findings, const struct report_frame *frames, size_t count,
			       bool with_caller)
{
	const char *where = words_place(findings, frames, count);
	const char *caller = where && with_caller ? words_place_caller(findings, frames, count) : NULL;

	return caller ? arena_printf(findings->arena, "%s, called by %s", where, caller) : where;
}

static bool may_sleep(const struct report_wait *wait)
{
	switch (wait->cause) {
	case CAUSE_CONDITION:
	case CAUSE_SEMAPHORE:
		return !wait->lock_kind;
	case CAUSE_POLL:
		return !wait->object;
	default:
		return false;
	}
}

/* What nobody but the time ends is waited for in order to sleep: a condition, or several descriptors. */
static enum wait_cause cause_of(const struct report_wait *wait)
{
	static const double by_time_min = 0.9;
	const struct report_waker *waker = wait->waker_count ? &wait->wakers[0] : NULL;

	if (!may_sleep(wait) || !waker)
		return wait->cause;
	return waker->context == WAKER_TIMER && waker->share >= by_time_min ? CAUSE_SLEEP : wait->cause;
}

/* Children that are waited for, one after the other, of which most have one name; "": they have several, or it is one. */
static const char *children_words(struct findings *findings, const struct report_wait *wait)
{
	static const double most_min = 0.5;
	const struct report_waker *waker = wait->waker_count ? &wait->wakers[0] : NULL;

	if (wait->object || !waker || !waker->name || waker->waits < 2 || waker->share < most_min)
		return "";
	return arena_printf(findings->arena, " named %s", waker->name);
}

/* What threads wait for that is not a lock: one finding a cause and place. */
static const char *wait_title(struct findings *findings, const struct report_wait *wait, const char *object,
			      bool with_callers)
{
	const struct report_waker *waker = wait->waker_count ? &wait->wakers[0] : NULL;
	const char *named = place_words(findings, wait->frames, wait->frame_count, with_callers);
	const char *where = named || object ? named : words_any_place(findings, wait->frames, wait->frame_count);
	const char *by = waker && waker->frame_count
				 ? place_words(findings, waker->frames, waker->frame_count, with_callers)
				 : NULL;
	const char *in = where ? arena_printf(findings->arena, " in %s", where) : "";
	const char *what = object ? arena_printf(findings->arena, " %s", words_object(findings, object)) : "";

	if (wait->cause == CAUSE_POLL && cause_of(wait) == CAUSE_SLEEP)
		return arena_printf(findings->arena, "threads poll descriptors%s until they time out", in);
	if (cause_of(wait) == CAUSE_SLEEP)
		return arena_printf(findings->arena, "threads sleep%s", in);
	if (wait->cause == CAUSE_CONDITION || wait->cause == CAUSE_SEMAPHORE)
		return arena_printf(findings->arena, "threads wait for a %s%s%s%s%s", wait_cause_name(wait->cause),
				    what, in, by ? ", signalled in " : "", by ? by : "");
	if (wait->lock_kind && runtime_lock_name(wait->lock_kind))
		return arena_printf(findings->arena, "threads wait for %s%s%s%s", runtime_lock_name(wait->lock_kind),
				    in, by ? ", released in " : "", by ? by : "");
	if (wait->lock_kind)
		return arena_printf(findings->arena, "threads wait for %ss%s%s%s",
				    words_kind(findings, wait->lock_kind), in, by ? ", released in " : "",
				    by ? by : "");
	if (wait->cause == CAUSE_JOIN)
		return arena_printf(findings->arena, "threads wait%s for other threads to end", in);
	if (wait->cause == CAUSE_PAGE_FAULT)
		return arena_printf(findings->arena, "threads wait for page faults%s%s%s", object ? " of" : "", what,
				    in);
	if (wait->cause == CAUSE_KERNEL_LOCK)
		return arena_printf(findings->arena, "threads wait%s for %s", in,
				    object ? arena_printf(findings->arena, "the kernel's%s", what) : "kernel locks");
	if (wait->cause == CAUSE_CHILD)
		return arena_printf(findings->arena, "threads wait%s for child processes%s", in,
				    children_words(findings, wait));
	if (wait->cause == CAUSE_OTHER)
		return wait->syscall ? arena_printf(findings->arena, "threads wait in the system call %s%s",
						    wait->syscall, in)
				     : arena_printf(findings->arena, "threads wait outside of system calls%s", in);
	if (wait->cause == CAUSE_POLL)
		return arena_printf(findings->arena, "threads poll descriptors%s%s%s", in, by ? ", woken in " : "",
				    by ? by : "");
	return arena_printf(findings->arena, "threads wait %s %s%s%s%s", wait->is_sending ? "to send to" : "for",
			    wait_cause_name(wait->cause), object ? "" : "s", what, in);
}

/*
 * Waits that read the same: of one kind of lock that is made of other waits, or of equal titles. Where many wait in one
 * function for conditions without a name, it may be one that they share: then by its callers, too.
 */
struct alike {
	const char *kind, *title, *place, *caller; /* caller: "": it does not matter; place: NULL then */
	const struct report_wait *heaviest;
	uint32_t rank;
	uint64_t lost_ns, idle_ns, count, max_ns, places;
	uint64_t own_ns; /* of it not idle, for what the heaviest one is for */
	bool has_others; /* some of it is for something else, or it is not known for what */
	const struct blame_part *blame;
};

/* Of files, in memory or not, and of sockets one place may wait for any number, each time for another. */
static bool has_many_objects(const struct report_wait *wait)
{
	return wait->cause == CAUSE_FILE || wait->cause == CAUSE_SOCKET || wait->cause == CAUSE_PAGE_FAULT;
}

static bool is_told_by_caller(const struct report_wait *wait)
{
	return (wait->cause == CAUSE_CONDITION || wait->cause == CAUSE_SEMAPHORE) && !wait->lock_kind && !wait->object;
}

static struct alike describe(struct findings *findings, const struct report_wait *wait)
{
	struct alike out = { .kind = wait->lock_kind, .heaviest = wait, .caller = "" };
	const char *caller;

	out.title = wait_title(findings, wait, has_many_objects(wait) ? NULL : wait->object, false);
	if (!is_told_by_caller(wait))
		return out;
	out.place = words_place(findings, wait->frames, wait->frame_count);
	caller = words_place_caller(findings, wait->frames, wait->frame_count);
	if (caller)
		out.caller = caller;
	return out;
}

static bool are_alike(const struct alike *a, const struct alike *b)
{
	if (a->kind || b->kind)
		return a->kind && b->kind && !strcmp(a->kind, b->kind);
	return !strcmp(a->title, b->title) && !strcmp(a->caller, b->caller);
}

static struct alike *find_alike(struct findings *findings, struct alike *rows, size_t *count,
				const struct report_wait *wait)
{
	struct alike described = describe(findings, wait);

	for (size_t i = 0; i < *count; i++)
		if (are_alike(&rows[i], &described))
			return &rows[i];
	if (*count == FINDINGS_MAX)
		return NULL;
	rows[*count] = described;
	return &rows[(*count)++];
}

/* Whether others wait there, too, whom another function has called. */
static bool is_place_shared(const struct alike *alike, const struct alike *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (alike->place && rows[i].place && !strcmp(rows[i].place, alike->place) &&
		    strcmp(rows[i].caller, alike->caller) != 0)
			return true;
	return false;
}

/* --- Waits for a pool --------------------------------------------------------------------------- */

/* What its threads did in all their lives. */
struct pool {
	const struct report_group *group;
	uint64_t running_ns, runnable_ns, blocked_ns;
};

static bool is_in_group(const struct report_group *group, const char *name)
{
	for (size_t i = 0; i < group->row_count; i++)
		if (!strcmp(group->threads[i].name, name))
			return true;
	return false;
}

static bool has_frame(const struct report_frame *frames, size_t count, const char *function)
{
	for (size_t i = 0; i < count; i++)
		if (frames[i].function && !strcmp(frames[i].function, function))
			return true;
	return false;
}

/* Whether one of its threads was there: where all threads have one name, their call paths tell them apart. */
static bool is_of_group(const struct report_group *group, const char *name, const struct report_frame *frames,
			size_t count)
{
	return is_in_group(group, name) && (!group->is_start_function || has_frame(frames, count, group->name));
}

/* NULL: several groups have threads of that name, and its call path does not say of which it is. */
static const struct report_group *group_of(const struct report *report, const struct report_waker *waker)
{
	const struct report_group *found = NULL;
	size_t count = 0;

	for (size_t i = 0; i < report->group_count; i++) {
		const struct report_group *group = &report->groups[i];

		if (group->is_start_function && is_of_group(group, waker->name, waker->frames, waker->frame_count))
			return group;
		if (!is_in_group(group, waker->name))
			continue;
		found = group;
		count++;
	}
	return count == 1 && !found->is_start_function ? found : NULL;
}

/* The group whose threads ended at least four fifths of the waiting; NULL: there is none. */
static const struct report_group *enders(const struct report *report, const struct report_wait *wait)
{
	const struct report_group *group = NULL;
	double share = 0;

	for (size_t i = 0; i < wait->waker_count; i++) {
		const struct report_waker *waker = &wait->wakers[i];

		if (waker->context != WAKER_THREAD || !waker->name)
			continue;
		if (!group)
			group = group_of(report, waker);
		if (group && is_of_group(group, waker->name, waker->frames, waker->frame_count))
			share += waker->share;
	}
	return share >= 0.8 ? group : NULL;
}

/*
 * Whether threads wait for a pool whose own threads have nothing left to give: all of them were active
 * nearly all the time. As these waited less than was waited here, it was not for each other.
 */
static bool find_pool(const struct report *report, const struct report_wait *wait, uint64_t lost_ns, struct pool *pool)
{
	static const double active_share_min = 0.9, living_min = 0.25;
	uint64_t active_ns, life_ns;

	*pool = (struct pool){ .group = enders(report, wait) };
	if (!pool->group || pool->group->thread_count < 2)
		return false;
	for (size_t i = 0; i < pool->group->row_count; i++) {
		pool->running_ns += pool->group->threads[i].running_ns;
		pool->runnable_ns += pool->group->threads[i].cpu_wait_ns;
		pool->blocked_ns += pool->group->threads[i].blocked_ns;
	}
	active_ns = pool->running_ns + pool->runnable_ns;
	life_ns = active_ns + pool->blocked_ns;
	/* Those of a pool live at the same time. */
	return pool->blocked_ns < lost_ns && active_ns >= active_share_min * life_ns &&
	       life_ns >= living_min * pool->group->thread_count * report->target.wall_ns;
}

/* Where the threads of the pool spent most of their time. */
static const struct report_path *path_of_pool(const struct report *report, const struct pool *pool)
{
	for (size_t i = 0; i < findings_paths_read(report); i++) {
		const struct report_path *path = &report->paths[i];

		for (size_t k = 0; k < path->thread_name_count; k++)
			if (is_of_group(pool->group, path->thread_names[k], path->frames, path->frame_count))
				return path;
	}
	return NULL;
}

static bool is_of_pool(const void *data, const struct run_place *place)
{
	const struct pool *pool = data;

	for (size_t i = 0; i < place->name_count; i++)
		if (!is_in_group(pool->group, place->names[i]))
			return false;
	return true;
}

/* In which function its threads ran most; samples do not tell threads of one name apart, call paths do. */
static const char *place_of_pool(struct findings *findings, const struct pool *pool, const struct report_path *path)
{
	if (!pool->group->is_start_function)
		return findings_busiest_function(findings, is_of_pool, pool);
	return path ? words_place(findings, path->frames, path->frame_count) : NULL;
}

static struct report_finding *add_pool(struct findings *findings, struct draft *draft, const struct report_wait *wait,
				       const struct pool *pool, double share)
{
	const char *where = words_place(findings, wait->frames, wait->frame_count);
	const struct report_path *path = path_of_pool(&findings->report, pool);
	const char *at = place_of_pool(findings, pool, path);
	uint64_t active_ns = pool->running_ns + pool->runnable_ns;
	double cpu_wait = draft_share(pool->runnable_ns, active_ns);
	struct report_finding *row;

	row = draft_add(findings, draft, PATTERN_SATURATED_POOL, wait->cause, share,
			"threads wait%s%s for a saturated pool: the %llu threads of %s are active for "
			"%.0f %% of their time",
			where ? " in " : "", where ? where : "", (unsigned long long)pool->group->thread_count,
			pool->group->name, 100 * draft_share(active_ns, active_ns + pool->blocked_ns));
	draft_say(findings, row,
		  cpu_wait >= 0.25 ? "%.0f %% of that is waiting for a CPU: more threads would not help"
				   : "%.0f %% of that is waiting for a CPU",
		  100 * cpu_wait);
	if (row && path)
		row->path_rank = path->rank;
	if (at)
		draft_say(findings, row, "they are mostly in %s", at);
	return row;
}

/* --- Who is not traced --------------------------------------------------------------------------- */

static bool is_of_object(const char *end, const char *object)
{
	return *end && !strncmp(object, end, strlen(end));
}

/* The process at the other end of a pipe or a connection, as the host numbers it; 0: it is not known. */
static uint32_t pid_behind(const struct report *report, const char *object)
{
	for (size_t i = 0; object && i < report->socket_count; i++)
		if (is_of_object(report->sockets[i].peer, object) || is_of_object(report->sockets[i].local, object))
			return report->sockets[i].other_end.peer_pid;
	for (size_t i = 0; object && i < report->file_count; i++)
		if (!strcmp(report->files[i].path, object))
			return report->files[i].other_end.peer_pid;
	return 0;
}

static bool is_traced(const struct report *report, uint32_t pid)
{
	for (size_t i = 0; i < report->thread_count; i++)
		if (report->threads[i].host_pid == pid)
			return true;
	return false;
}

void patterns_say_untraced(struct findings *findings, struct report_finding *row, const struct report_wait *wait)
{
	static const double share_min = 0.5;
	const struct report_waker *waker = wait->waker_count ? &wait->wakers[0] : NULL;
	uint32_t pid;

	if (!waker || waker->context != WAKER_PROCESS || waker->share < share_min || !waker->name)
		return;
	pid = pid_behind(&findings->report, wait->object);
	if (!pid || is_traced(&findings->report, pid))
		draft_say(findings, row, "%.0f %% of it was ended by %s, which is not traced: -n %s traces it, too",
			  100 * waker->share, waker->name, waker->name);
	else
		draft_say(findings, row, "%.0f %% of it was ended by %s, which is not traced: -p %u traces it, too",
			  100 * waker->share, waker->name, pid);
}

/* Rows that differ in no more than how the kernel came to wait are for one thing; so are those that are nearly all for one. */
static bool is_for_one(const struct alike *alike)
{
	static const double nearly_all = 0.95;

	return alike->places == 1 ||
	       (alike->heaviest->object &&
		(!alike->has_others || alike->own_ns >= nearly_all * (alike->lost_ns - alike->idle_ns)));
}

/* The directory of the files; NULL: it is not about several. */
static const char *directory_of(struct findings *findings, const struct alike *alike)
{
	if (alike->heaviest->cause != CAUSE_FILE || (is_for_one(alike) && alike->heaviest->object))
		return NULL;
	return file_group_directory(findings, alike->lost_ns - alike->idle_ns);
}

static const char *title_of(struct findings *findings, const struct alike *alike, const char *directory,
			    bool with_callers)
{
	const struct report_wait *wait = alike->heaviest;
	const char *where;

	if (directory) {
		where = place_words(findings, wait->frames, wait->frame_count, with_callers);
		return arena_printf(findings->arena, "threads wait for %s%s%s",
				    file_group_words(findings, directory, alike->lost_ns - alike->idle_ns),
				    where ? " in " : "", where ? where : "");
	}
	return is_for_one(alike) || with_callers ? wait_title(findings, wait, wait->object, with_callers)
						 : alike->title;
}

/* What of it the heaviest row is about, where rows are for several things, unless that is next to nothing. */
static void say_heaviest(struct findings *findings, struct report_finding *row, const struct alike *alike)
{
	static const double heaviest_min = 0.03;
	const struct report_wait *wait = alike->heaviest;
	double lost_ns = alike->lost_ns - alike->idle_ns;

	if (is_for_one(alike))
		return;
	if (wait->object && alike->own_ns < heaviest_min * lost_ns)
		return;
	if (wait->object)
		draft_say(findings, row, "%.0f %% of it is for %s", 100 * draft_share(alike->own_ns, lost_ns),
			  words_object(findings, wait->object));
	else if (alike->places > 1)
		draft_say(findings, row, "it is waited for in %s, %.0f %% of it in the first",
			  words_counted(findings, alike->places, "place"),
			  100 * draft_share(wait->wait_ns - wait->idle_ns, lost_ns));
}

static void add_alike(struct findings *findings, struct draft *draft, const struct alike *alike, bool with_callers)
{
	const struct report_wait *wait = alike->heaviest;
	uint64_t lost_ns = alike->lost_ns - alike->idle_ns;
	double share = draft_lost(findings, lost_ns);
	struct report_finding *row;
	const char *directory;
	struct pool pool;

	if (share < finding_share_min ||
	    (is_mere_parent(&findings->report, wait, lost_ns) && !leads_outside(alike->blame)))
		return;
	directory = directory_of(findings, alike);
	if (!wait->lock_kind && wait->cause != CAUSE_CHILD && find_pool(&findings->report, wait, lost_ns, &pool))
		row = add_pool(findings, draft, wait, &pool, share);
	else
		row = draft_add(findings, draft, PATTERN_WAIT, cause_of(wait), share, "%s",
				title_of(findings, alike, directory, with_callers));
	if (row) {
		row->wait_rank = alike->rank;
		row->blame = alike->blame;
		row->object = directory;
	}
	if (directory)
		file_group_say_calls(findings, row, directory);
	draft_say(findings, row, "%s", words_lengths(findings, alike->count, alike->lost_ns, alike->max_ns));
	draft_say_blocked_on(findings, row, wait->blocked_on);
	patterns_say_untraced(findings, row, wait);
	say_heaviest(findings, row, alike);
}

static bool is_same_object(const struct report_wait *a, const struct report_wait *b)
{
	return a->object && b->object && !strcmp(a->object, b->object);
}

static bool is_small(const struct report *report, const struct report_wait *wait)
{
	return draft_share(wait->wait_ns - wait->idle_ns, report->balance.threads.busy_ns) < finding_share_min / 30;
}

static void add_row(struct findings *findings, struct alike *alike, const struct report_wait *wait, uint32_t rank)
{
	if (!alike->places++)
		alike->rank = rank;
	if (wait == alike->heaviest || is_same_object(wait, alike->heaviest))
		alike->own_ns += wait->wait_ns - wait->idle_ns;
	else
		alike->has_others = true;
	alike->lost_ns += wait->wait_ns;
	alike->idle_ns += wait->idle_ns;
	alike->count += wait->waits;
	/* Each of many files is a cause of its own: what they have in common, the title says. */
	if (!is_small(&findings->report, wait))
		alike->blame = blame_join(findings, alike->blame, blame_of_wait(findings, wait));
	if (wait->max_ns > alike->max_ns)
		alike->max_ns = wait->max_ns;
}

/* So many small ones do not read the same, unless each is for a file or a socket of its own. */
static bool is_one_of_many(const struct report_wait *wait)
{
	return has_many_objects(wait) && wait->wait_ns > 2 * wait->idle_ns;
}

void patterns_add_waits(struct findings *findings, struct draft *draft)
{
	const struct report *report = &findings->report;
	enum { SMALL_ROWS_MAX = 16384 };
	struct alike rows[FINDINGS_MAX];
	size_t count = 0, small = 0;

	for (size_t i = 0; i < report->wait_count; i++) {
		const struct report_wait *wait = &report->waits[i];
		struct alike *alike;

		if (is_small(report, wait) && (!is_one_of_many(wait) || small++ >= SMALL_ROWS_MAX))
			continue;
		if ((wait->cause == CAUSE_LOCK && !wait->lock_kind) || wait->cause == CAUSE_BARRIER)
			continue; /* by lock */
		alike = find_alike(findings, rows, &count, wait);
		if (alike)
			add_row(findings, alike, wait, i + 1);
	}
	for (size_t i = 0; i < count; i++)
		add_alike(findings, draft, &rows[i], is_place_shared(&rows[i], rows, count));
}
