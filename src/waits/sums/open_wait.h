/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The wait that a thread is in, which is kept beside the thread's other figures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/threads.h"
#include "waits/history.h"
#include "waits/sums/wait_repeats.h"
#include "waits/open_request.h"
#include "waits/wait_cause.h"

struct file_info;
struct wait_file;
struct wait_lock;
struct wait_unseen_row;

enum { WAIT_RECENT = 4 };

/* The wait that a thread is in, or was in last; part of what is kept of a thread. */
struct open_wait {
	bool is_open, is_lock;
	bool is_found;        /* it is older than the trace */
	bool is_in_iteration; /* of an event loop, which polls for something else */
	uint64_t begin_ns, begin_share_ns;
	struct wait_facts facts;
	uint64_t recorded_ns; /* when facts said who owns the lock */
	enum wait_cause cause;
	/* Of several connections that it waits for, the one that has ended it, as sched.READY says; 0: not known, or one alone. */
	uint64_t ready_file, asked_ns;
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
		struct wait_place place;
		enum wait_cause cause;
	} recent[WAIT_RECENT];
	size_t recent_next;
	/*
	 * The last one; and the last one beside which those after it were short, with next to nothing run
	 * since, which is taken for idle when the thread ends then.
	 */
	struct last_wait {
		uint64_t wait_ns, idle_ns, running_ns; /* running_ns: of the thread, at its end */
		struct wait_place place;
		struct wait_lock *lock;
		enum wait_cause cause;
	} last, leaving;
	struct open_request request;
	bool is_awaited; /* the user waits for its end: the first thread of a command that was started for that */
	uint64_t
		outside_ns; /* that all its idle waits so far took which something from outside has ended, itself or others for it */
	struct wait_repeats repeats;
	/* What was found last for waits of this thread, which mostly waits for the same again; NULL: nothing. */
	struct wait_known {
		const struct file_info *file;
		struct wait_file *file_row;
		struct wait_lock *lock;
		struct wait_unseen_row *unseen;
	} known;
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
