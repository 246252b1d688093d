/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether somebody waits for what a thread does: from when a request comes to it (a message on a connection or a pipe, a
 * job of another thread that has such a request open, its creation by one) until it waits for the next. What it waits for
 * meanwhile keeps whoever asked waiting, a sleep, too. A thread that only sleeps again and again has no request:
 * doc/metrics.md, "Idle waits", has the rule. The caller owns the struct, which begins zeroed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "waits/wait_cause.h"

struct open_request {
	bool is_open;
	/* Where it was waited for, and where the thread slept since: stacks and objects; 0: not known. */
	struct request_place {
		uint64_t stack, object;
	} taken, slept;
};

/* What there is to know of a wait of the thread. */
struct request_wait {
	const struct wait_facts *facts;
	enum wait_cause cause;
	uint64_t stack;               /* 0: not known */
	const struct file_info *file; /* that was waited for; NULL: none, or not known */
	enum waker_kind kind;         /* of what ended it; WAKER_NONE: it lasts */
	bool is_by_thread;            /* a traced one ended it, */
	bool is_repeated;             /* time ended it for the same thing just before */
	bool is_in_iteration;         /* of an event loop, which takes its requests elsewhere */
	bool is_job;                  /* which had a request open and does not wait for the same by turns */
};

/* Whether who asked waits for the end of this wait, too, though no traced thread has ended it. */
bool open_request_is_delayed(const struct open_request *request, const struct request_wait *wait);

/* Whether the thread slept for as long as it had said, rather than waiting for something. */
bool open_request_is_sleep(const struct request_wait *wait);

/* Whether the wait was for a job, which it has brought: nobody has waited for the thread meanwhile. */
bool open_request_is_brought(const struct open_request *request, const struct request_wait *wait);

/* The wait has ended: it may have brought a request, or have been the wait for one. */
void open_request_end_wait(struct open_request *request, const struct request_wait *wait);

/* The request is also that of a thread that begins now. */
void open_request_inherit(struct open_request *request, const struct open_request *parent);
