/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files that make findings of waits share. */
#pragma once

#include "findings/parts/findings_internal.h"
#include "findings/parts/findings_meaning.h"
#include "waits/sums/waits.h"
#include "waits/wait_names.h"

struct blocked_sum;
struct blocked_wait;
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

/*
 * findings_blocked_on.c: of what a row of the report is made, wait paths or locks, that part of each is in it. The list
 * begins as NULL.
 */
enum { FINDINGS_BLOCKED_MAX = 64 }; /* rows that have it, the first ones */

struct blocked_source {
	const void *key;
	double part;
	const struct blocked_source *next;
};

void findings_add_blocked_source(struct findings *findings, const struct blocked_source **list, const void *key,
				 double part);

/* What the waits of these, wait_ns in all, were blocked on; NULL: nothing is known of that. */
const struct report_blocked_on *findings_blocked_on(struct findings *findings, const struct blocked_source *sources,
						    uint64_t wait_ns);

/* The same of sums, each of which is of other time, all_ns together. */
const struct report_blocked_on *findings_blocked_on_sums(struct findings *findings, const struct blocked_sum *sums,
							 size_t count, uint64_t all_ns);

/* What somebody waited for, as the report has it; its time is left out. */
struct report_blocked_wait findings_blocked_wait(struct findings *findings, const struct blocked_wait *wait);

/* What ran on the CPUs that threads waited for, wait_ns of it while others of the program had them; NULL: not known. */
const struct report_cpu_taken *findings_cpu_taken(struct findings *findings, uint64_t wait_ns);

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

/* findings_resources.c: what the program shares with others. */
void findings_add_resources(struct findings *findings);

/* findings_rivals.c: who had the CPU in the time that threads waited for one. */
void findings_add_rivals(struct findings *findings, uint64_t waited_ns);

/* findings_spin.c: the functions in which threads spin that stand out. Returns how many, at most max. */
size_t findings_put_spins(struct findings *findings, struct report_finding *rows, size_t max);
