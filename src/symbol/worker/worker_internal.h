/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files share that do what worker.h says: worker.c has the process, worker_ask.c the questions. */
#pragma once

#include "symbol/worker/asked_list.h"
#include "symbol/worker/worker.h"
#include "symbol/worker/worker_message.h"

struct worker {
	struct helper_pair *pair;
	struct opener *opener;
	struct budget *budget;
	uint32_t number; /* of the process that knows what follows */
	uint32_t last_sequence;
	bool *is_known; /* by module number: it has its path */
	size_t known_capacity;
	struct asked_list asked;    /* in the order in which they were sent */
	struct asked_list later;    /* to be sent; nobody waits for them */
	struct asked_list answered; /* what is to be done with them */
	uint64_t checked_ns;
	uint32_t late_sequence; /* of the question that the helpers were given up for; 0: none */
	size_t ahead_count;
	/* The answer that was waited for. */
	bool is_here;
	int err;
	union worker_content content;
	size_t content_bytes;
	struct answer_book *book;  /* NULL: none */
	struct answer_book *ahead; /* what was asked ahead, if there is no book; NULL: nothing */
	bool is_book_alone;
};

/*
 * Sends a question to the process, after it was started and given the module's file; owns it then. 0, or -errno:
 * nothing was sent, and it stays the caller's.
 */
int worker_send(struct worker *worker, struct asked *asked);

/* One whose answer comes later. Owns it; -ENODATA: there is no process to ask; -EAGAIN: too many are asked. */
int worker_ask_later(struct worker *worker, struct asked *asked);

/* Until an answer has come, or something can be sent (POLLOUT in events), or a moment is over. */
void worker_wait(struct worker *worker, short events);
