/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers that are known already: those of a recording, and those that were asked for ahead. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct module;
struct question;
struct worker;

/* Where a book has the answer, among those of its kind. */
uint64_t worker_book_place(const struct question *question);

/* The worker's content is the answer then. */
bool worker_find_in_book(struct worker *worker, const struct module *module, const struct question *question);

/* The worker's content is an answer to the question. */
void worker_put_in_book(struct worker *worker, const struct module *module, const struct question *question);
