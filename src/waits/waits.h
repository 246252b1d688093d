/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Why threads wait, on what, and who ends it. criticality.c tells when a wait begins and ends; here
 * waits add up by cause, by call path and its wakers, by futex and by file. Sums by cause, futex and
 * file are exact; those by call path are estimated when stacks are thinned out (doc/metrics.md).
 * Owns all it hands out; pointers stay valid until the next event or waits_free().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "klocks/lengths.h"
#include "session/session.h"
#include "session/threads.h"
#include "waits/file_calls.h"
#include "waits/history.h"
#include "waits/untold.h"
#include "waits/wait_cause.h"

struct files;
struct others;
struct waits;
struct wait_path;

enum { WAIT_RECENT = 4, WAIT_ENDERS = 4, WAIT_USERS = 2 };

/* From the clock of a thread.FOUND to the end of its record: the thread's next event may come between. */
enum { LIST_NS_MAX = 10000000 };

/* The wait that a thread is in, or was in last; part of what is kept of a thread. */
struct open_wait {
	bool is_open, is_lock;
	bool is_found; /* it is older than the trace */
	uint64_t begin_ns, begin_share_ns;
	struct wait_facts facts;
	uint64_t told_ns; /* when facts told who owns the lock */
	enum wait_cause cause;
	bool has_stack;
	uint64_t stack;
	uint32_t keep;             /* as in sched.SWITCH */
	uint64_t slice_cmetric_ns; /* of the critical slice before it; else 0 */
	uint64_t real_ns;          /* of all its waits so far: for work in progress */
	/* From where it was called last by a thread, and others with it; and its running time then. */
	uint64_t called_object, called_running_ns; /* 0: not of late */
	/* Its last waits, as far as they were idle: somebody may turn out to have needed them. */
	struct recent_wait {
		uint64_t begin_ns, end_ns, idle_ns;
		struct wait_path *path;
		enum wait_cause cause;
		double weight;
	} recent[WAIT_RECENT];
	size_t recent_next;
	/*
	 * The last one; and the last one beside which those after it were short, with next to nothing run
	 * since, which is taken for idle when the thread ends then.
	 */
	struct last_wait {
		uint64_t wait_ns, idle_ns, running_ns; /* running_ns: of the thread, at its end */
		struct wait_path *path;
		struct wait_lock *lock;
		enum wait_cause cause;
		double weight;
	} last, leaving;
	bool is_dying; /* it was woken from the last one to end; later ones do not count */
};

/* A thread as waits see it: who waits or who wakes. */
struct wait_party {
	struct thread *thread;
	struct open_wait *wait;
	const struct history *history;
	struct history_sum sum; /* at the moment */
	uint64_t running_ns;
};

/* Who ended a wait. */
enum waker_kind {
	WAKER_THREAD,  /* a traced one */
	WAKER_EXIT,    /* a traced one, by its end */
	WAKER_PROCESS, /* a thread that is not traced */
	WAKER_KERNEL,  /* a thread of the kernel */
	WAKER_TIMER,   /* what it waited for was time, or time was over */
	WAKER_DISK,
	WAKER_NETWORK,
	WAKER_INTERRUPT, /* another one */
	WAKER_SIGNAL,
	WAKER_NONE,   /* it had not ended with the trace */
	WAKER_LOST,   /* the record was */
	WAKER_HIDDEN, /* the kernel told nobody of it */
	WAKER_KINDS,
};

/* "timer". */
const char *waker_kind_name(enum waker_kind kind);

struct waits *waits_new(const struct files *files, const struct others *others, struct untold *untold);
void waits_free(struct waits *waits);

/* Why the slice ended that e ends. */
enum wait_cause waits_cause_of(const struct waits *waits, const struct wait_facts *facts);

/* slice_cmetric_ns: of the slice that e ends when it was critical, else 0. */
void waits_begin(struct waits *waits, struct wait_party *party, uint64_t now_ns, uint64_t share_ns,
		 uint64_t slice_cmetric_ns, const struct ev_sched_switch *e);

/* e tells where the thread waits; nothing, if it waits for something else by then. */
void waits_listed(struct waits *waits, const struct thread *thread, struct open_wait *wait,
		  const struct ev_thread_waits *e);

/*
 * The wait of party ends. e: the wake-up, NULL when it was lost or (is_over) the trace ends; waker:
 * whose, when it is traced, else NULL.
 */
void waits_end(struct waits *waits, struct wait_party *party, uint64_t now_ns, const struct ev_sched_wake *e,
	       struct wait_party *waker, bool is_over);

/* The thread of party ends. If it was woken for nothing else, nobody needed it: its wait was idle. */
void waits_thread_ends(struct waits *waits, const struct wait_party *party);

/*
 * Counts the wait of party, which lasts, as if it ended at now_ns with nothing to end it, until
 * waits_uncount_open() takes back all that was counted so. No event may come in between.
 */
void waits_count_open(struct waits *waits, const struct wait_party *party, uint64_t now_ns);
void waits_uncount_open(struct waits *waits);

struct wait_sum {
	uint64_t wait_ns, idle_ns, count, max_ns;
};

/* Exact, by the cause that facts alone tell. */
struct wait_sum waits_by_cause(const struct waits *waits, enum wait_cause cause);

/* Waits of one call path of an address space in one kind of call. */
struct wait_path {
	uint32_t pid, exec_count; /* with first_ns: the address space; pid 0: all others */
	uint64_t first_ns;
	uint64_t stack;          /* 0: could not be read */
	struct wait_facts facts; /* of the first */
	enum wait_cause cause;
	uint64_t object;
	bool has_many_objects;          /* object is 0, for want of room for all of them */
	bool is_estimated;              /* some of its stacks or its wakers' were left out */
	double wait_ns, idle_ns, count; /* estimates */
	double cmetric_ns;              /* of the critical slices that these waits ended */
	uint64_t cmetric_max_ns;        /* of one of them */
	uint64_t seen, max_ns;
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

/* Walk with *cursor = 0; NULL ends. */
const struct wait_path *waits_next_path(const struct waits *waits, size_t *cursor);

/* A futex word, or another lock, of one address space. */
struct wait_lock {
	uint32_t pid, exec_count;
	bool is_others; /* stands for all of its cause that found no room */
	uint64_t first_ns, object;
	struct wait_facts facts; /* of the first */
	enum wait_cause cause;
	struct wait_sum sum;
	uint64_t cmetric_ns;
	uint32_t waiting, queue_max;
	uint64_t busy_since_ns; /* it has been held at least since then; 0: not known */
	uint64_t last_end_ns;   /* of a wait that a traced thread ended, and which */
	uint32_t last_waker;
	uint64_t hold_ns, holds;
	/* Of hold_ns, in which the holder waited itself, as far as its last wait tells; where longest. */
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
	uint64_t vain_count;        /* waits that began right after such a call: it was in vain */
	struct wait_path *heaviest; /* one call path that waited for it, to be named after */
	/* The last two bursts of wake-ups that may have handed it over, the later one first. */
	struct wait_burst {
		uint64_t begin_ns, end_ns;
	} handed[2];
	struct wait_lock *next; /* of the same hash */
};

const struct wait_lock *waits_next_lock(const struct waits *waits, size_t *cursor);

/* Adds the lengths of its waits to lengths[LENGTHS]. */
void wait_lock_add_lengths(const struct wait_lock *lock, uint32_t *lengths);

struct wait_file {
	uint64_t file;          /* 0: those that found no room */
	enum wait_cause cause;  /* of most of the time */
	uint64_t cause_lead_ns; /* what speaks for it more than for all others */
	struct wait_sum sum;
	uint64_t cmetric_ns;
	uint64_t direction_ns[FILE_DIRECTIONS];
	uint64_t asked_bytes, asked_count; /* of the waits in calls that told how many */
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

const struct wait_file *waits_next_file(const struct waits *waits, size_t *cursor);

/* A wait that nobody ended, though its thread may have been killed. */
struct wait_lasting {
	char name[16]; /* of the thread */
	uint32_t pid, exec_count, ns_tid;
	struct wait_facts facts;
	enum wait_cause cause;
	bool is_found; /* it is older than the trace */
	uint64_t begin_ns, end_ns;
	uint64_t told_ns;             /* when facts told who owns the lock */
	const struct wait_path *path; /* NULL: its stack was not kept */
	const struct wait_lock *lock; /* NULL: it is for none */
};

/* Those of dead threads first; valid until the account of open waits is taken back. */
const struct wait_lasting *waits_next_lasting(const struct waits *waits, size_t *cursor);

/* Whether the lock may have been handed over from begin_ns on, before end_ns. */
bool wait_lock_may_be_handed(const struct wait_lock *lock, uint64_t begin_ns, uint64_t end_ns);

/* Waits of which no record tells who ended them, by the reason for that. */
uint64_t waits_untold(const struct waits *waits, enum untold_reason reason);
