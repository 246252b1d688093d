/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make findings of waits share. */
#pragma once

#include "findings/parts/findings_internal.h"
#include "findings/parts/findings_meaning.h"
#include "waits/sums/waits.h"
#include "waits/wait_names.h"

struct file_info;
struct table;

/* Merges the traced threads of a list of wakers into a table, which begins empty. */
void findings_merge_unlockers(struct findings *findings, struct table *unlockers, const struct wait_waker *list);

/*
 * Those of such a table, which is freed, by criticality: together no more than sum, all waits that they may have
 * ended. Returns how many.
 */
size_t findings_put_unlockers(struct findings *findings, struct table *unlockers, const struct wait_sum *sum,
			      const struct report_waker **out);

/* The system call of waits that are distinguished by it alone; else NULL. */
const char *findings_other_call(enum wait_cause cause, uint32_t syscall);

/* findings_children.c: "process child (4711)"; NULL when it waits for none, for any, or who knows. */
const char *findings_child_name(struct findings *findings, const struct wait_path *path);

/* findings_peers.c */
struct peer_index;

struct peer_index *findings_index_peers(struct findings *findings);
void findings_free_peers(struct peer_index *index);
struct report_peer findings_peer(struct findings *findings, const struct peer_index *index,
				 const struct wait_file *file, const struct file_info *info);

/*
 * findings_bounds.c: estimates in accord with what is known exactly: added up, they are no more than the waits of
 * their cause, lock or file.
 */
struct wait_bounds;

struct wait_bounds *findings_bounds_new(struct findings *findings);
void findings_bounds_free(struct wait_bounds *bounds);

/* What was waited at a path: for its object, the longest wait of them; and for others. */
struct wait_parts {
	struct wait_amount own, others;
	uint64_t max_ns;
};

struct wait_parts findings_parts(const struct wait_bounds *bounds, const struct wait_path *path);

/* Of the waits for a lock, those that are of no path's estimate. */
struct wait_amount findings_nowhere(const struct wait_bounds *bounds, const struct wait_lock *lock);

/* findings_locks.c, findings_files.c, findings_balance.c: fill in their part of the report. */
void findings_add_locks(struct findings *findings);
void findings_add_files(struct findings *findings);
void findings_add_balance(struct findings *findings);

/* findings_rivals.c: who had the CPU in the time that threads waited for one. */
void findings_add_rivals(struct findings *findings, uint64_t waited_ns);

/* findings_spin.c: the functions in which threads spin that stand out. Returns how many, at most max. */
size_t findings_put_spins(struct findings *findings, struct report_finding *rows, size_t max);
