/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What waits add up to: by call path and waker, by lock, by file; and those that last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "klocks/lengths.h"
#include "waits/file_calls.h"
#include "waits/sums/thread_set.h"
#include "waits/sums/wait_amounts.h"
#include "waits/sums/wait_sum.h"
#include "waits/wait_cause.h"

struct thread;

enum { WAIT_ENDERS = 4, WAIT_USERS = 2 };

/* Waits of one call path of an address space in one kind of call. */
struct wait_path {
	uint32_t pid, exec_count; /* with first_ns: the address space; pid 0: all others */
	uint64_t first_ns;
	uint64_t stack;          /* 0: could not be read */
	struct wait_facts facts; /* of the first */
	enum wait_cause cause;
	uint64_t object;
	bool has_many_objects;          /* object is 0, for lack of space for all of them */
	bool is_estimated;              /* some of its stacks or its wakers' were left out */
	double wait_ns, idle_ns, count; /* estimates */
	double cmetric_ns;              /* of the critical slices that these waits ended */
	struct wait_amount certain;     /* of those estimates: the waits whose stacks were kept; */
	struct wait_classes *excess;    /* what they stand for beyond that; NULL: nothing */
	uint64_t cmetric_max_ns;        /* of one of them */
	uint64_t max_ns;
	struct thread_set threads; /* that waited, as far as their stacks were kept */
	struct wait_waker *wakers;
	struct wait_path *next; /* of the same hash */
};

struct wait_waker {
	enum waker_kind kind;
	const struct thread *thread; /* the first one; NULL: not traced */
	bool are_several;            /* others like it, too */
	char name[16];               /* of one that is not traced */
	uint64_t name_group;         /* the same for names that differ in numbers only */
	uint32_t pid, exec_count;
	uint64_t first_ns, stack; /* 0: none, or it could not be read */
	double wait_ns, count, cmetric_ns;
	uint64_t cmetric_max_ns; /* of one wake-up */
	struct wait_waker *next; /* of the same path or futex */
};

/* A futex word, or another lock, of one address space. */
struct wait_lock {
	uint32_t pid, exec_count;
	bool is_others; /* stands for all of its cause that found no space */
	uint64_t first_ns, object;
	struct wait_facts facts; /* of the first */
	enum wait_cause cause;
	struct wait_sum sum;
	uint64_t cmetric_ns;
	uint32_t waiting, queue_max;
	uint64_t waiters;       /* a bit for each that has waited for it, by its number */
	uint64_t busy_since_ns; /* it has been held at least since then; 0: unknown */
	uint64_t last_end_ns;   /* of a wait that a traced thread ended, and which */
	uint32_t last_waker;
	uint64_t hold_ns, holds;
	/* Of hold_ns, in which the holder waited itself, as far as its last wait says; where longest. */
	uint64_t holder_waited_ns, holder_path_ns;
	const struct wait_path *holder_path;
	/* Of the words where libraries keep the holder's id, those that held it most often; 0: none. */
	struct wait_vote {
		uint32_t tid, votes;
	} holders[3];
	uint64_t first_wait_ns;
	uint32_t *lengths; /* [LENGTHS]; NULL: there was one wait */
	struct wait_waker *unlockers;
	/* Threads that ended waits, those that ended most; approximate when there are more. */
	struct wait_ender {
		uint32_t thread; /* number; 0: none */
		uint64_t wait_ns, count;
	} enders[WAIT_ENDERS];
	uint64_t vain_count;        /* waits that began right after such a call: it was without effect */
	struct wait_path *heaviest; /* one call path that waited for it, to be named after */
	/* The last two bursts of wake-ups that may have handed it over, the later one first. */
	struct wait_burst {
		uint64_t begin_ns, end_ns;
	} handed[2];
	struct wait_lock *next; /* of the same hash */
};

/* Adds the lengths of its waits to lengths[LENGTHS]. */
void wait_lock_add_lengths(const struct wait_lock *lock, uint32_t *lengths);

/* Whether the lock may have been handed over from begin_ns on, before end_ns. */
bool wait_lock_may_be_handed(const struct wait_lock *lock, uint64_t begin_ns, uint64_t end_ns);

struct wait_file {
	uint64_t file;          /* 0: those that found no space */
	enum wait_cause cause;  /* of most of the time */
	uint64_t answered_ns;   /* when data came to it last that ended a wait for many; 0: never */
	uint64_t cause_lead_ns; /* what speaks for it more than for all others */
	struct wait_sum sum;
	uint64_t cmetric_ns;
	uint64_t direction_ns[FILE_DIRECTIONS];
	uint64_t asked_bytes, asked_count; /* of the waits in calls that said how many */
	/* Threads that waited for it, those that waited longest; approximate when there are more. */
	struct wait_user {
		uint32_t thread; /* number; 0: none */
		uint64_t wait_ns;
	} users[WAIT_USERS];
	struct wait_peer *peers; /* the other end, as far as it ended waits */
};

/* Threads of one process whose names differ in numbers only. */
struct wait_peer {
	const struct thread *thread; /* the first one; NULL: not traced */
	uint32_t pid;
	char name[16], process[16]; /* of one that is not traced */
	uint64_t name_group;
	uint64_t wait_ns;       /* that they ended; approximate when there are many of them */
	struct wait_peer *next; /* of the same file */
};

/* A wait that nobody ended, though its thread may have been killed. */
struct wait_lasting {
	char name[16]; /* of the thread */
	uint32_t pid, exec_count, ns_tid;
	struct wait_facts facts;
	enum wait_cause cause;
	bool is_found;  /* it is older than the trace */
	bool is_killed; /* its thread has ended */
	uint64_t begin_ns, end_ns;
	uint64_t recorded_ns;         /* when facts said who owns the lock */
	const struct wait_path *path; /* NULL: its stack was not kept */
	const struct wait_lock *lock; /* NULL: it is for none */
};
