/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the functions on a waiting thread's stack say of why it waits (share/wait.rules), where its
 * system call leaves that open: which kind of futex, which kernel lock's.
 */
#pragma once

#include <stddef.h>

#include "waits/wait_cause.h"

struct report_frame;
struct wait_names;

struct wait_names *wait_names_new(void);
void wait_names_free(struct wait_names *names);

struct wait_meaning {
	enum wait_cause cause;
	const char *lock_kind; /* "rwlock"; NULL: it is not a lock */
	bool is_named;         /* a rule knew one of the functions */
	bool is_made;          /* a lock whose waiters sleep on something of their own: object is not a lock */
	bool is_in_callback; /* a sleep, or a wait for a futex, a child or by a poll that is not the loop's, in what an event loop has called */
	bool is_for_result; /* a wait for a futex, for the result of a task: what sleeps meanwhile is waited for */
	bool is_idle;       /* by its name: a worker of a pool for which there is no work */
};

/* frames: innermost first, may be none. cause: what facts alone tell. */
struct wait_meaning wait_meaning_of(const struct wait_names *names, const struct wait_facts *facts,
				    enum wait_cause cause, const struct report_frame *frames, size_t count);
