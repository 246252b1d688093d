/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The threads that events are about, and their names. Subscribes first, so that every analysis
 * finds a thread here when an event names it. Owns the threads; a pointer stays valid
 * until the registry is freed or, for a dead thread, until threads_forget(); of one that is not traced,
 * until another event is delivered.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct threads;

struct thread {
	uint32_t number;         /* unique in the run */
	uint32_t parent;         /* number; 0 when it has none */
	uint32_t tid, pid;       /* as the host sees them; after an exec, the process's */
	uint32_t ns_tid, ns_pid; /* as the thread's own PID namespace sees them */
	uint32_t exec_count;     /* execs of this thread: tells address spaces apart */
	uint32_t cpus_allowed;   /* how many it may use; 0: not known */
	uint64_t start_ns;       /* CLOCK_BOOTTIME; tells apart two lives of one tid */
	uint64_t born_ns;        /* CLOCK_MONOTONIC, when the trace first seen it */
	char name[16];           /* NUL-terminated; bytes are the program's, not escaped */
	char *title;             /* what its process calls itself, if it is the first one; NULL: not known */
	bool was_found;          /* lived before the trace began */
	bool is_outside;         /* has events, but is not traced */
	bool has_ended;          /* known of those only */
	bool is_kept;            /* some result names it: it is never forgotten */
};

struct threads *threads_new(struct session *session);

/* Other, of an earlier session, forgets each thread that threads forgets. */
void threads_forget_also(struct threads *threads, struct threads *other);
void threads_free(struct threads *threads);

/* The thread with this number; a nameless one is made when a lost record hid its birth. */
struct thread *threads_get(struct threads *threads, uint32_t number);

/* The one with this number; NULL: there is none. */
const struct thread *threads_find(const struct threads *threads, uint32_t number);

/* The traced thread of a process that has this id in its own PID namespace, or had it last; NULL: there is none. */
struct thread *threads_find_own(const struct threads *threads, uint32_t pid, uint32_t ns_tid);

/* Frees one thread that is dead and that nobody will ask for, unless it is_kept. */
void threads_forget(struct threads *threads, struct thread *thread);
