/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that add up waits share. */
#pragma once

#include "waits/files.h"
#include "waits/others.h"
#include "waits/untold.h"
#include "waits/waits.h"

struct arena;
struct journal;

/* Who ended a wait, as it is added to a path and to a lock. */
struct wait_end {
	enum waker_kind kind;
	const struct wait_party *waker; /* NULL: not traced */
	const struct other *other;      /* NULL: nobody, or it is traced */
	uint64_t stack, now_ns;
	uint64_t cmetric_ns;      /* the criticality of the wake-up */
	uint64_t busy_ns;         /* in which the waker was busy since the wait began */
	double weight;            /* waits that it stands for; 0: its stack was not kept */
	struct untold_case *open; /* who ended it may still turn out to be hidden; NULL: not */
};

/* wait_ender.c: who ended the wait by e, all but the weight. file: that it waited for, or NULL. */
struct wait_end wait_end_of(const struct open_wait *wait, uint64_t now_ns, const struct ev_sched_wake *e,
			    const struct wait_party *waker, const struct file_info *file, const struct others *others);
/* No record tells of the wake-up; of some waits there is only one thing that can have ended them. */
enum waker_kind wait_untold_kind(const struct open_wait *wait, enum untold_reason reason);

/* wait_wakers.c: adds to the list of wakers. */
void wait_wakers_add(struct arena *arena, struct wait_waker **list, const struct wait_end *end, uint64_t wait_ns);
/* A wait in the list that counts as ended by what was lost turns out to be ended by what is hidden. */
void wait_wakers_hide(struct arena *arena, struct wait_waker **list, uint64_t wait_ns, double weight);

/* wait_paths.c */
struct wait_paths;

struct wait_paths *wait_paths_new(void);
void wait_paths_free(struct wait_paths *paths);
struct wait_path *wait_paths_get(struct wait_paths *paths, const struct thread *thread, uint64_t stack,
				 const struct open_wait *wait);
/* weight: the waits that this one stands for. */
void wait_path_add(struct wait_paths *paths, struct wait_path *path, const struct open_wait *wait, uint64_t wait_ns,
		   uint64_t idle_ns, double weight, const struct wait_end *end);
/* The same for a wait that lasts: the journal can undo it. */
void wait_path_add_open(struct wait_path *path, const struct open_wait *wait, uint64_t wait_ns, uint64_t idle_ns,
			double weight, struct journal *journal);
/* Those that have waits. */
const struct wait_path *wait_paths_next(const struct wait_paths *paths, size_t *cursor);

/* wait_locks.c */
struct wait_locks;

struct wait_locks *wait_locks_new(void);
void wait_locks_free(struct wait_locks *locks);
/* is_vain: the thread was woken from the same just before. */
void wait_locks_begin(struct wait_locks *locks, const struct thread *thread, const struct open_wait *wait,
		      bool is_vain);
/* More is known of a wait that was found: who holds the lock. */
void wait_locks_found(struct wait_locks *locks, const struct thread *thread, const struct open_wait *wait);
/*
 * path: where it waited, or NULL. *is_call: whether others were woken from the same with it. Returns
 * the lock.
 */
struct wait_lock *wait_locks_end(struct wait_locks *locks, const struct thread *thread, const struct open_wait *wait,
				 uint64_t wait_ns, uint64_t idle_ns, struct wait_path *path, const struct wait_end *end,
				 bool *is_call);
/* The same for a wait that lasts: the journal can undo it. */
struct wait_lock *wait_locks_count_open(struct wait_locks *locks, const struct thread *thread,
					const struct open_wait *wait, uint64_t wait_ns, uint64_t idle_ns,
					struct wait_path *path, struct journal *journal);
const struct wait_lock *wait_locks_next(const struct wait_locks *locks, size_t *cursor);

/*
 * wait_last.c: a wait has ended, of a thread that is to die then or not; whether the thread of party was
 * woken from one to die, or has run next to nothing since.
 */
void wait_last_set(struct open_wait *wait, const struct last_wait *last, bool is_to_die);
bool wait_last_is_to_end(const struct wait_party *party, const struct last_wait *last);

/* wait_lasting.c */
struct wait_lastings;

struct wait_lastings *wait_lastings_new(void);
void wait_lastings_free(struct wait_lastings *lastings);
void wait_lastings_add(struct wait_lastings *lastings, const struct thread *thread, const struct open_wait *wait,
		       uint64_t end_ns, const struct wait_path *path, const struct wait_lock *lock);
/* The thread ended right after its last wait, which may have ended because the thread was to end. */
void wait_lastings_add_killed(struct wait_lastings *lastings, const struct thread *thread,
			      const struct open_wait *wait);
/* Forgets all but those of dead threads. */
void wait_lastings_clear(struct wait_lastings *lastings);
const struct wait_lasting *wait_lastings_next(const struct wait_lastings *lastings, size_t *cursor);

/* wait_files.c */
struct wait_files;

struct wait_files *wait_files_new(void);
void wait_files_free(struct wait_files *files);
/* kind: of the file that was waited for. */
void wait_files_end(struct wait_files *files, const struct thread *thread, const struct open_wait *wait,
		    enum file_kind kind, uint64_t wait_ns, uint64_t idle_ns, const struct wait_end *end);
/* The same for a wait that lasts: the journal can undo it. */
void wait_files_count_open(struct wait_files *files, const struct thread *thread, const struct open_wait *wait,
			   uint64_t wait_ns, uint64_t idle_ns, struct journal *journal);
const struct wait_file *wait_files_next(const struct wait_files *files, size_t *cursor);

/* wait_wakers.c: the same for names that differ in numbers only. */
uint64_t wait_name_group(const char *name);

/* A wait is done, or left. */
void wait_sum_add(struct wait_sum *sum, uint64_t wait_ns, uint64_t idle_ns);
