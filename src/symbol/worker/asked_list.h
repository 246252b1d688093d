/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Questions for the worker, in the order in which they came. A list owns what is in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/worker/worker_message.h"

struct module;
struct unwind_file;

/* A question that was sent. */
struct asked {
	struct asked *next;
	struct question question;
	const struct module *module; /* NULL: it is about none */
	uint32_t user;               /* who bears what it does to the worker */
	uint64_t process;            /* whose time it takes, if it is about no module: see budget.h */
	uint64_t first_ns;           /* since when it is the one that the worker examines */
	uint8_t sent_again_count;
	bool is_awaited; /* by somebody who wants it alone */
	bool is_ahead;   /* by somebody who wants it in the book; else it is for one of these */
	void (*on_table)(void *data, const struct module *module, int err, struct unwind_file *file);
	void (*on_jit)(void *data, uint32_t space, int err);
	void (*on_goroutines)(void *data, uint32_t pid, int err, const struct go_answer *answer);
	void (*on_jvm)(void *data, uint32_t pid, int err, const struct jvm_answer *answer);
	void *data;
	/* The answer; of a table, as much as has come. */
	int err;
	struct go_answer *goroutines; /* as many of its rows as there are */
	struct jvm_answer jvm;
	uint8_t *table;
	size_t table_bytes, table_capacity;
};

struct asked_list {
	struct asked *first, **end;
	size_t count;
};

void asked_list_init(struct asked_list *list);
void asked_list_add(struct asked_list *list, struct asked *asked);

/* The first one, which is the caller's then; NULL: there is none. */
struct asked *asked_list_take(struct asked_list *list);
void asked_list_clear(struct asked_list *list);

void asked_free(struct asked *asked);
