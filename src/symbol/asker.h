/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks the worker about files: for less once a file has made it fail, and not at all about one that
 * takes too long. What cannot be answered is noted for the user.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct asker;
struct module;
struct notes;
struct worker;

/* Borrows both. */
struct asker *asker_new(struct worker *worker, struct notes *notes);
void asker_free(struct asker *asker);

/*
 * Puts one question, which *data has and takes the answer to. has_debug: it may be about debug
 * information. 0 and what the answer says of the file (enum answer_flags), or the worker's error.
 */
typedef int (*asker_question)(void *data, struct worker *worker, const struct module *module, bool has_debug,
			      uint32_t *flags);

/* What an answer from elsewhere says of the file, as asker_ask() takes it from the worker's. */
void asker_learn(struct asker *asker, struct module *module, uint32_t flags);

struct worker_question;

/* Takes answers in ahead: see worker_ask_ahead(). Leaves out questions about files that have failed. */
void asker_ask_ahead(struct asker *asker, struct worker_question *questions, size_t count);

/* 0 when the question was answered, with debug information or without. */
int asker_ask(struct asker *asker, struct module *module, bool wants_debug, asker_question question, void *data);
