/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What worker.c, which has the process, and worker_ask.c, which has the questions, share. */
#pragma once

#include "symbol/worker/worker.h"
#include "symbol/worker/worker_message.h"

/* A question that was sent. */
struct asked {
	struct asked *next;
	struct question question;
	const struct module *module; /* NULL: it is about none */
	uint32_t user;               /* who bears what it does to the worker */
	uint64_t process;            /* whose time it takes, if it is about no module: see budget.h */
	uint64_t first_ns;           /* since when it is the one that the worker looks at */
	uint8_t sent_again_count;
	bool is_awaited; /* by somebody who wants it alone */
	bool is_ahead;   /* by somebody who wants it in the book; else one of these is called */
	worker_on_table *on_table;
	worker_on_jit *on_jit;
	void *data;
	/* The answer; of a table, as much as has come. */
	int err;
	uint8_t *table;
	size_t table_bytes, table_room;
};

struct asked_list {
	struct asked *first, **end;
	size_t count;
};

struct worker {
	struct helper_pair *pair;
	struct opener *opener;
	struct budget *budget;
	uint32_t number; /* of the process that knows what follows */
	uint32_t last_sequence;
	bool *is_known; /* by module number: it has its path */
	size_t known_room;
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
 * Sends a question to the process, started and told of the module's file first; owns it then. 0, or -errno:
 * nothing was sent, and it stays the caller's.
 */
int worker_send(struct worker *worker, struct asked *asked);

/* One whose answer comes later. Owns it; -ENODATA: there is no process to ask; -EAGAIN: too many are asked. */
int worker_ask_later(struct worker *worker, struct asked *asked);

/* Until an answer has come, or something can be sent (POLLOUT in events), or a moment is over. */
void worker_wait(struct worker *worker, short events);

void worker_asked_free(struct asked *asked);

bool worker_content_is_valid(enum question_kind kind, const union worker_content *content, size_t size_bytes);

/* In worker_ask.c: worker->content is an answer to the question. */
void worker_put_in_book(struct worker *worker, const struct module *module, const struct question *question);
