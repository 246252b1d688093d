/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks of the kernel that were waited for: by lock and by how it was taken, by who waited, by call path and
 * by owner. Times and counts are exact; those by call path are estimated when stacks are thinned out. Owns
 * all it hands out; pointers stay valid until the next event or klocks_free().
 *
 * Owns: waits for kernel locks, added up.
 * Used by: waits/sums, account, activity, activity/decode, findings/names, findings/parts, graph, view/json, engine, query, lanes, export.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "klocks/lengths.h"
#include "session/session.h"
#include "session/threads.h"
#include "values.h"

struct klocks;

/* What a klock.LOCK says. */
struct klock_facts {
	uint64_t lock, address, file;
	uint32_t offset, pid;
	uint16_t cpu;
	enum klock_object object;
	const char *process; /* the name of pid */
	const char *cache;   /* empty: unknown */
};

struct klock_sum {
	uint64_t waits, wait_ns, max_ns; /* without what it took to note that they began */
};

/* Where a lock was waited for, in estimates. */
struct klock_path {
	uint64_t stack;           /* 0: could not be read */
	uint32_t pid, exec_count; /* address space of the user's frames */
	uint64_t first_ns;        /* when it was seen */
	double waits, wait_ns;    /* estimates; of these, what is sure: the waits whose stacks were kept */
	uint64_t kept_waits, kept_ns;
	struct klock_path *next; /* of the same lock */
};

/* How often traced threads took a lock, and how long they had it. */
struct klock_holding {
	uint64_t acquisitions;                /* also while nobody else wanted it */
	uint64_t take_ns;                     /* from asking for it to having it, spinning included */
	uint64_t holds, hold_ns, max_hold_ns; /* that ended */
	uint64_t caller;                      /* a return address in the kernel of who took it first; 0: unknown */
};

/* Who waited: a thread, or what interrupts did while they had its CPU. */
struct klock_waiter {
	uint32_t thread; /* number; 0: not traced */
	uint32_t tid;    /* 0, with thread 0: all that found no space */
	enum wake_context context;
	struct klock_sum sum;
	struct klock_path *path; /* of those it waited in, one of the heaviest; NULL: none is known */
	double path_lead_ns;
	struct klock_waiter *next; /* of the same lock */
};

/* Who had the lock when waits began. */
struct klock_owner {
	uint32_t tid;         /* 0: readers, or nobody that is known */
	struct klock_sum sum; /* of these waits */
	uint64_t stack;       /* where the owner was, once when it did not run; 0: unknown */
	struct klock_owner *next;
};

/* A lock, taken in one way. */
struct klock {
	uint64_t lock;        /* 0: all that found no space */
	enum klock_kind kind; /* or a number from KLOCK_KINDS on: klocks_kind_name() */
	struct klock_holding holding;
	struct klock_sum sum;      /* of waits that have ended, and of those that have not until now */
	uint64_t lasting, gave_up; /* waits, of these */
	uint64_t tracing_ns;       /* what it took to note that they began */
	uint64_t first_wait_ns;
	uint32_t *lengths; /* [LENGTHS] of waits; NULL: there was one */
	struct klock_waiter *waiters;
	struct klock_path *paths;
	struct klock_owner *owners;
	uint32_t waiter_count;
	struct klock *next; /* of the same hash */
};

/* threads: to know address spaces; borrowed. */
struct klocks *klocks_new(struct session *session, struct threads *threads);
void klocks_free(struct klocks *klocks);

/* In words: "rwsem write". */
const char *klocks_kind_name(const struct klocks *klocks, enum klock_kind kind);

/* Numbers of kinds are below this. */
enum klock_kind klocks_kind_count(const struct klocks *klocks);

/* What it took to note that a lock was taken and held, which is in no time of theirs; 0: could not be measured. */
struct klock_costs {
	uint64_t take_ns, hold_ns;
};

/* False: acquisitions are not counted. */
bool klocks_costs(const struct klocks *klocks, struct klock_costs *costs);

/* NULL: it was never recorded, or was one too many. */
const struct klock_facts *klocks_find(const struct klocks *klocks, uint64_t lock);

/* Cursor 0 begins; NULL ends. */
const struct klock *klocks_next(const struct klocks *klocks, size_t *cursor);

/* Adds the lengths of its waits to lengths[LENGTHS]. */
void klock_add_lengths(const struct klock *klock, uint32_t *lengths);

/* How the lock is mostly taken where it is waited for. */
enum klock_kind klocks_main_kind(const struct klocks *klocks, uint64_t lock);
