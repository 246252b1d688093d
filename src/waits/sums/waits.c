/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "waits/sums/waits.h"

#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "session/wake_context.h"
#include "values.h"
#include "waits/files.h"
#include "waits/journal.h"
#include "waits/sums/wait_ender.h"
#include "waits/sums/wait_files.h"
#include "waits/sums/wait_idle.h"
#include "waits/sums/wait_last.h"
#include "waits/sums/wait_lasting.h"
#include "waits/sums/wait_locks.h"
#include "waits/sums/wait_paths.h"
#include "waits/sums/wait_unseen.h"
#include "waits/sums/wait_weight.h"

struct waits {
	const struct files *files;
	struct arena *arena;
	struct wait_paths *paths;
	struct wait_unseen *unseen;
	struct wait_locks *locks;
	struct wait_sum by_cause[CAUSES];
	struct wait_files *files_waited;
	const struct others *others;
	struct missing_wakeups *missing;
	struct wait_lastings *lastings;
	struct journal *journal; /* of waits that last and are counted nevertheless */
};

struct waits *waits_new(const struct files *files, const struct others *others, struct missing_wakeups *missing)
{
	struct waits *waits = xcalloc(1, sizeof(*waits));

	waits->files = files;
	waits->arena = arena_new();
	waits->paths = wait_paths_new();
	waits->unseen = wait_unseen_new();
	waits->locks = wait_locks_new();
	waits->files_waited = wait_files_new();
	waits->others = others;
	waits->missing = missing;
	waits->lastings = wait_lastings_new();
	waits->journal = journal_new();
	return waits;
}

void waits_free(struct waits *waits)
{
	if (!waits)
		return;
	wait_paths_free(waits->paths);
	wait_unseen_free(waits->unseen);
	wait_locks_free(waits->locks);
	wait_files_free(waits->files_waited);
	wait_lastings_free(waits->lastings);
	journal_free(waits->journal);
	arena_free(waits->arena);
	free(waits);
}

/* NULL: it is for none, or not known. */
static const struct file_info *file_of(const struct waits *waits, struct open_wait *wait)
{
	const struct file_info *known = wait->known.file;

	if (!wait_has_file(&wait->facts))
		return NULL;
	if (!known || known->file != wait->facts.object)
		wait->known.file = known = files_find(waits->files, wait->facts.object);
	return known;
}

enum wait_cause waits_cause_of(const struct waits *waits, const struct wait_facts *facts)
{
	return wait_cause_of(facts, wait_has_file(facts) ? files_find(waits->files, facts->object) : NULL);
}

static enum wait_cause cause_of(const struct waits *waits, struct open_wait *wait)
{
	return wait_cause_of(&wait->facts, file_of(waits, wait));
}

/*
 * Whether the thread waits again for what it was just woken from with others, having done next to
 * nothing: it found that it was not its turn. A condition of glibc's has two words, used by turns, and
 * a mutex that may be waited for in between.
 */
static bool is_spurious(const struct wait_party *party, const struct wait_facts *facts)
{
	enum { NEXT_TO_NOTHING_NS = 50000, WORDS_APART = 4 };
	struct open_wait *wait = party->wait;

	if (!wait->called_object || !wait_has_futex(facts) ||
	    facts->object + WORDS_APART - wait->called_object > 2 * WORDS_APART)
		return false;
	wait->called_object = 0;
	return party->running_ns - wait->called_running_ns <= NEXT_TO_NOTHING_NS;
}

void waits_begin(struct waits *waits, struct wait_party *party, uint64_t now_ns, uint64_t share_ns,
		 uint64_t slice_cmetric_ns, const struct ev_sched_switch *e)
{
	struct open_wait *wait = party->wait;
	struct wait_facts facts = wait_facts_of(e);
	bool is_spurious_wake = is_spurious(party, &facts);

	wait_repeats_begin(&wait->repeats, &facts, party->running_ns);

	wait->is_open = true;
	wait->is_found = false;
	wait->begin_ns = wait->recorded_ns = now_ns;
	wait->begin_share_ns = share_ns;
	wait->facts = facts;
	wait->cause = cause_of(waits, wait);
	wait->ready_file = wait->asked_ns = 0;
	wait->has_stack = e->flags & SWITCH_HAS_STACK;
	wait->stack = e->stack;
	wait->keep = e->keep;
	wait->slice_cmetric_ns = slice_cmetric_ns;
	wait->is_lock = wait_is_for_lock(&wait->facts, wait->cause);
	if (wait->is_lock)
		wait_locks_begin(waits->locks, party->thread, wait, is_spurious_wake);
}

/* As its switch was, which came before the trace begins: it is as good as one that was seen. */
static void listed_switch(struct waits *waits, const struct thread *thread, struct open_wait *wait,
			  const struct ev_thread_waits *e)
{
	if (e->state == SWITCH_RUNNABLE || e->state == SWITCH_DEAD)
		return;
	wait->has_stack = e->flags & SWITCH_HAS_STACK;
	wait->stack = e->stack;
	wait->keep = e->keep;
	wait->facts.state = e->state;
	wait->facts.flags = e->flags;
	wait->facts.value = e->value;
	memcpy(wait->facts.owners, e->owners, sizeof(e->owners));
	wait->cause = cause_of(waits, wait);
	if (wait->is_lock)
		wait_locks_found(waits->locks, thread, wait);
}

/* What says that the switch is older must not come behind the switch itself. */
static bool is_listed(const struct open_wait *wait, const struct ev_thread_waits *e)
{
	if (!wait->is_open)
		return false;
	return wait->is_found ? e->begin_ns <= wait->begin_ns : !e->is_older && e->begin_ns == wait->begin_ns;
}

/*
 * Each open wait is listed with its stack, whatever the coin was at its beginning: it stands for
 * itself alone.
 */
void waits_listed(struct waits *waits, const struct thread *thread, struct open_wait *wait,
		  const struct ev_thread_waits *e)
{
	if (!is_listed(wait, e))
		return;
	if (e->is_older) {
		listed_switch(waits, thread, wait, e);
		return;
	}
	wait->keep = 0;
	if (!wait->has_stack) {
		wait->has_stack = true;
		wait->stack = e->stack;
	}
	if (e->state == SWITCH_RUNNABLE || e->state == SWITCH_DEAD)
		return;
	if ((wait->is_found || e->value) && wait_has_futex(&wait->facts)) {
		wait->facts.value = e->value;
		memcpy(wait->facts.owners, e->owners, sizeof(e->owners));
		wait->recorded_ns = e->header.time_ns;
	}
	if (wait->is_found) {
		wait->facts.state = e->state;
		wait->cause = cause_of(waits, wait);
		if (wait->is_lock)
			wait_locks_found(waits->locks, thread, wait);
	}
}

/* Who ended it, all but the weight. */
static struct wait_end end_of(struct waits *waits, const struct open_wait *wait, const struct file_info *file,
			      uint64_t now_ns, const struct ev_sched_wake *e, const struct wait_party *waker,
			      bool is_over)
{
	struct wait_end end = { .kind = WAKER_NONE, .now_ns = now_ns };

	if (e)
		return wait_end_of(wait, now_ns, e, waker, file, waits->others);
	/* What was found on its way to sleep, or to a CPU, has had no end that somebody made. */
	if (is_over || (wait->is_found && now_ns <= wait->begin_ns + LIST_NS_MAX))
		return end;
	end.kind = wait_missing_kind(
		wait, missing_wakeups_add(waits->missing, MISSING_WAKER, wait->begin_ns, now_ns, &end.open));
	if (end.kind != WAKER_LOST)
		end.open = NULL;
	return end;
}

/*
 * Whether the waker surely held what was waited for. glibc, Rust and others that follow U. Drepper's
 * "Futexes are tricky" have 2 in the word of a mutex that somebody waits for.
 */
static bool is_held_by(const struct open_wait *wait, const struct wait_party *waker)
{
	enum { MUTEX_CONTENDED = 2 };

	if (!waker || (wait->cause != CAUSE_LOCK && !wait_has_klock(&wait->facts)))
		return false;
	return !wait_has_futex(&wait->facts) || wait_futex_command(&wait->facts) != FUTEX_WAIT ||
	       wait->facts.value == MUTEX_CONTENDED;
}

static void move_idle(const struct wait_place *place, uint64_t wait_ns, double idle_ns)
{
	if (place->path)
		wait_path_move_idle(place->path, wait_ns, idle_ns, place->weight);
	else
		wait_amount_move_idle(wait_class(&place->unseen->classes, wait_ns), idle_ns);
	if (place->file)
		place->file->sum.idle_ns += (uint64_t)(int64_t)idle_ns;
}

/* Somebody turns out to have waited for the thread from begin_ns to end_ns: its waits then were not idle, whatever they seemed. */
static void take_back_idle(struct waits *waits, struct open_wait *of, uint64_t begin_ns, uint64_t end_ns)
{
	for (size_t i = 0; i < WAIT_RECENT; i++) {
		struct recent_wait *recent = &of->recent[i];
		uint64_t from_ns = recent->begin_ns > begin_ns ? recent->begin_ns : begin_ns;
		uint64_t to_ns = recent->end_ns < end_ns ? recent->end_ns : end_ns;
		uint64_t back_ns;

		if (!recent->idle_ns || to_ns <= from_ns)
			continue;
		back_ns = to_ns - from_ns < recent->idle_ns ? to_ns - from_ns : recent->idle_ns;
		recent->idle_ns -= back_ns;
		waits->by_cause[recent->cause].idle_ns -= back_ns;
		of->real_ns += back_ns;
		wait_repeats_take_back(&of->repeats, recent->begin_ns, &recent->place, back_ns);
		move_idle(&recent->place, recent->end_ns - recent->begin_ns, -(double)back_ns);
	}
}

/*
 * Of a thread that waits for many connections: that to a server has an answer, as far as something has been asked there
 * since the last one. Meanwhile it was not idle, whichever connections ended its waits. Returns what is idle of this wait.
 */
static uint64_t end_asking(struct waits *waits, struct open_wait *wait, uint64_t now_ns, uint64_t idle_ns)
{
	uint64_t last_ns = wait_files_answered(waits->files_waited, wait->ready_file, now_ns);

	if (!wait->asked_ns)
		return idle_ns;
	if (wait->asked_ns <= last_ns)
		return now_ns - wait->begin_ns;
	take_back_idle(waits, wait, wait->asked_ns, now_ns);
	if (wait->asked_ns > wait->begin_ns && wait->asked_ns - wait->begin_ns > idle_ns)
		return wait->asked_ns - wait->begin_ns;
	return idle_ns;
}

/* So much of the idle time of the parts was none. */
static void take_back_parts(struct waits *waits, struct open_wait *wait, struct wait_portion *parts, uint64_t back_ns)
{
	parts->idle_ns -= back_ns;
	waits->by_cause[parts->cause].idle_ns -= back_ns;
	wait->real_ns += back_ns;
	move_idle(&parts->place, parts->part_ns, -(double)back_ns);
	if (parts->lock)
		parts->lock->sum.idle_ns -= back_ns;
}

/* Parts are no longer among the last waits whose idle time may turn out to be none. */
static void forget_recent_parts(struct open_wait *wait)
{
	for (size_t i = 0; i < WAIT_RECENT; i++)
		if (wait->recent[i].begin_ns >= wait->repeats.begin_ns && wait->recent[i].begin_ns < wait->begin_ns)
			wait->recent[i].idle_ns = 0;
}

static void move_waker(struct waits *waits, const struct wait_portion *parts, const struct wait_end *end,
		       uint64_t cmetric_ns)
{
	if (parts->place.path)
		wait_path_move_waker(waits->paths, parts->place.path, end, parts->count, parts->wait_ns, cmetric_ns,
				     parts->place.weight);
	if (parts->lock)
		wait_lock_move_waker(waits->locks, parts->lock, end, parts->count, parts->wait_ns, cmetric_ns,
				     parts->place.weight);
}

/* What has ended the wait has ended its parts, too. */
static void settle_parts(struct waits *waits, struct open_wait *wait, const struct file_info *file,
			 const struct wait_end *end)
{
	uint64_t left_ns = wait_idle_of_parts(wait, end, file);
	uint64_t back_ns = wait_repeats_idle_ns(&wait->repeats) - left_ns;

	if (back_ns)
		forget_recent_parts(wait);
	for (size_t i = 0; i < WAIT_PORTIONS; i++) {
		struct wait_portion *parts = &wait->repeats.parts[i];
		uint64_t part_back_ns = back_ns < parts->idle_ns ? back_ns : parts->idle_ns;

		if (!parts->count)
			continue;
		if (part_back_ns)
			take_back_parts(waits, wait, parts, part_back_ns);
		back_ns -= part_back_ns;
		/* What the waker did meanwhile is counted once. */
		move_waker(waits, parts, end, i ? 0 : end->before.cmetric_ns);
	}
}

static bool is_known_end(const struct wait_end *end)
{
	return end->kind != WAKER_NONE && end->kind != WAKER_LOST && end->kind != WAKER_HIDDEN;
}

/* Time has ended the wait, which may go on at once. */
static void add_part(struct open_wait *wait, uint64_t running_ns, const struct wait_portion *part)
{
	if (!wait->is_lock && wait->cause != CAUSE_SOCKET && wait->cause != CAUSE_PIPE)
		return;
	wait_repeats_add(&wait->repeats, &(struct wait_repeats){
						 .begin_ns = wait->begin_ns,
						 .begin_share_ns = wait->begin_share_ns,
						 .object = wait->facts.object,
						 .syscall = wait->facts.syscall,
						 .running_ns = running_ns,
						 .last_ns = part->wait_ns,
						 .parts = { *part },
					 });
}

/* Something else has ended the wait, and with it the parts before. */
static void end_parts(struct waits *waits, struct open_wait *wait, const struct file_info *file,
		      const struct wait_end *end)
{
	if (!wait->repeats.begin_ns)
		return;
	if (is_known_end(end))
		settle_parts(waits, wait, file, end);
	wait->repeats.has_ended = true;
}

static void remember(struct open_wait *wait, uint64_t now_ns, uint64_t idle_ns, const struct wait_place *place)
{
	if (!idle_ns)
		return;
	wait->recent[wait->recent_next++ % WAIT_RECENT] = (struct recent_wait){
		wait->begin_ns, now_ns, idle_ns, *place, wait->cause,
	};
}

/* Returns the row of what was waited for; NULL: that is no file. */
static struct wait_file *end_file(struct waits *waits, const struct wait_party *party, const struct file_info *file,
				  uint64_t wait_ns, uint64_t idle_ns, const struct wait_end *end)
{
	struct open_wait *wait = party->wait;

	if (!wait_has_file(&wait->facts) || !wait->facts.object)
		return NULL;
	return wait_files_end(waits->files_waited, party->thread, wait,
			      file ? file->kind : file_kind_of_name(wait->facts.object), wait_ns, idle_ns, end);
}

/* The kernel side recorded its file after the switch. */
static void settle_cause(const struct waits *waits, struct open_wait *wait)
{
	if (wait_has_file(&wait->facts))
		wait->cause = cause_of(waits, wait);
}

/* What it waited for, of many, is known now. */
static void settle_ready(const struct waits *waits, struct open_wait *wait)
{
	const struct file_info *file = wait->ready_file ? files_find(waits->files, wait->ready_file) : NULL;

	if (wait->cause != CAUSE_POLL || !file || file->kind != FILE_SOCKET || file->is_server) {
		wait->ready_file = 0;
		return;
	}
	wait->cause = CAUSE_SOCKET;
	wait->facts.object = wait->ready_file;
}

/*
 * It waits for a word of memory, and what ended that is a request that it had made of io_uring: for a page, say, which
 * another thread is to tell it of, once the kernel has done the rest in its own name. So it waits for a file.
 */
static void settle_work(const struct waits *waits, const struct wait_party *party, const struct ev_sched_wake *e)
{
	struct open_wait *wait = party->wait;

	if (!e || !wake_is_for_work(e) || !wait_has_futex(&wait->facts))
		return;
	if (wait->is_lock)
		wait_locks_leave(waits->locks, party->thread, wait);
	wait->is_lock = false;
	wait->facts = wait_facts_of_work();
	wait->cause = CAUSE_FILE;
}

void waits_ready(struct open_wait *wait, const struct ev_sched_ready *e)
{
	wait->ready_file = e->file;
	wait->asked_ns = e->asked_ns;
}

struct wait_added waits_end(struct waits *waits, struct wait_party *party, uint64_t now_ns,
			    const struct ev_sched_wake *e, struct wait_party *waker, bool is_over)
{
	struct open_wait *wait = party->wait;
	uint64_t wait_ns = now_ns - wait->begin_ns, idle_ns, stack = 0;
	struct wait_place place = { 0 };
	struct wait_lock *lock = NULL;
	const struct file_info *file;
	struct wait_end end;
	bool is_call = false;

	if (!wait->is_open)
		return (struct wait_added){ 0 };
	wait->is_open = false;
	settle_cause(waits, wait);
	settle_ready(waits, wait);
	settle_work(waits, party, e);
	file = file_of(waits, wait);
	end = end_of(waits, wait, file, now_ns, e, waker, is_over);
	place.weight = wait_weigh(party, e, waker, &end, &stack);
	if (wait->is_lock)
		lock = wait_locks_of(waits->locks, party->thread, wait);
	idle_ns = wait_idle_ns(party, wait, wait_ns, &end, file, stack, lock);
	if (is_held_by(wait, end.waker)) {
		idle_ns = 0;
		take_back_idle(waits, waker->wait, wait->begin_ns, now_ns);
	}
	if (wait->ready_file)
		idle_ns = end_asking(waits, wait, now_ns, idle_ns);
	wait_sum_add(&waits->by_cause[wait->cause], wait_ns, idle_ns);
	if (place.weight) {
		place.path = wait_paths_get(waits->paths, party->thread, stack, wait);
		wait_path_add(waits->paths, place.path, party->thread, wait, wait_ns, idle_ns, place.weight, &end);
	} else {
		place.unseen = wait_unseen_add(waits->unseen, party->thread, wait, wait_ns, idle_ns, NULL);
	}
	if (wait->is_lock)
		lock = wait_locks_end(waits->locks, party->thread, wait, wait_ns, idle_ns, place.path, &end, &is_call);
	if (is_over)
		wait_lastings_add(waits->lastings, party->thread, wait, now_ns, place.path, lock);
	if (is_call) {
		wait->called_object = wait->facts.object;
		wait->called_running_ns = party->running_ns;
	}
	place.file = end_file(waits, party, file, wait_ns, idle_ns, &end);
	wait->outside_ns += wait_outside_ns(wait, &end, file, stack, idle_ns);
	wait_idle_end_request(party, &end, file, stack, lock);
	remember(wait, now_ns, idle_ns, &place);
	if (end.kind == WAKER_TIMER)
		add_part(wait, party->running_ns,
			 &(struct wait_portion){ place, lock, wait->cause, wait_ns, 1, wait_ns, idle_ns });
	else
		end_parts(waits, wait, file, &end);
	wait->real_ns += wait_ns - idle_ns;
	wait_last_set(wait,
		      &(struct last_wait){
			      wait_ns,
			      idle_ns,
			      party->running_ns,
			      place,
			      lock,
			      wait->cause,
		      },
		      e && e->flags & WAKE_TO_DIE);
	return (struct wait_added){ place.path, place.weight, lock, wait->cause, end.waker };
}

void waits_thread_ends(struct waits *waits, const struct wait_party *party)
{
	struct last_wait *last = &party->wait->leaving;
	uint64_t more_ns = last->wait_ns - last->idle_ns;

	if (wait_last_is_to_end(party, &party->wait->last))
		wait_lastings_add_killed(waits->lastings, party->thread, party->wait);
	/* The first thread of a process ends with its work done: it did not wait in order to end. */
	if (!more_ns || party->thread->tid == party->thread->pid || !wait_last_is_to_end(party, last))
		return;
	last->idle_ns += more_ns;
	waits->by_cause[last->cause].idle_ns += more_ns;
	move_idle(&last->place, last->wait_ns, more_ns);
	if (last->lock)
		last->lock->sum.idle_ns += more_ns;
}

void waits_count_open(struct waits *waits, const struct wait_party *party, uint64_t now_ns)
{
	struct open_wait as_is = *party->wait, *wait = &as_is;
	uint64_t wait_ns = now_ns - wait->begin_ns, stack = 0, idle_ns;
	struct wait_path *path = NULL;
	struct wait_lock *lock = NULL;
	const struct file_info *file;
	struct wait_sum *sum;
	struct wait_end end;
	double weight;

	settle_cause(waits, wait);
	file = file_of(waits, wait);
	end = end_of(waits, wait, file, now_ns, NULL, NULL, true);
	weight = wait_weigh(party, NULL, NULL, &end, &stack);
	idle_ns = wait_idle_ns(party, wait, wait_ns, &end, file, stack, NULL);
	sum = &waits->by_cause[wait->cause];
	journal_save(waits->journal, sum, sizeof(*sum));
	wait_sum_add(sum, wait_ns, idle_ns);
	if (weight) {
		path = wait_paths_get(waits->paths, party->thread, stack, wait);
		wait_path_add_open(path, party->thread, wait, wait_ns, idle_ns, weight, waits->journal);
	} else {
		wait_unseen_add(waits->unseen, party->thread, wait, wait_ns, idle_ns, waits->journal);
	}
	if (wait->is_lock)
		lock = wait_locks_count_open(waits->locks, party->thread, wait, wait_ns, idle_ns, path, waits->journal);
	if (wait_has_file(&wait->facts) && wait->facts.object)
		wait_files_count_open(waits->files_waited, party->thread, wait, wait_ns, idle_ns, waits->journal);
	wait_lastings_add(waits->lastings, party->thread, wait, now_ns, path, lock);
}

void waits_uncount_open(struct waits *waits)
{
	wait_lastings_clear(waits->lastings);
	journal_undo(waits->journal);
}

struct wait_sum waits_by_cause(const struct waits *waits, enum wait_cause cause)
{
	return waits->by_cause[cause];
}

const struct wait_path *waits_next_path(const struct waits *waits, size_t *cursor)
{
	return wait_paths_next(waits->paths, cursor);
}

const struct wait_unseen_row *waits_next_unseen(const struct waits *waits, size_t *cursor)
{
	return wait_unseen_next(waits->unseen, cursor);
}

const struct wait_unseen_row *waits_find_unseen(const struct waits *waits, uint64_t space, enum wait_cause cause,
						uint64_t object)
{
	return wait_unseen_find(waits->unseen, space, cause, object);
}

const struct wait_lock *waits_next_lock(const struct waits *waits, size_t *cursor)
{
	return wait_locks_next(waits->locks, cursor);
}

const struct wait_file *waits_next_file(const struct waits *waits, size_t *cursor)
{
	return wait_files_next(waits->files_waited, cursor);
}

const struct wait_lasting *waits_next_lasting(const struct waits *waits, size_t *cursor)
{
	return wait_lastings_next(waits->lastings, cursor);
}

uint64_t waits_missing_wakeups(const struct waits *waits, enum missing_reason reason)
{
	return missing_wakeups_count(waits->missing, MISSING_WAKER, reason);
}
