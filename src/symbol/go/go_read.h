/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what the goroutines of a process do, in its memory, which may hold anything and changes meanwhile. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/given.h"
#include "symbol/answer/answer.h"
#include "symbol/go/goroutine_format.h"

struct go_table;

/* As given_pieces() does; false when nothing can be read. */
struct go_memory {
	bool (*read)(void *data, struct memory_piece *pieces, size_t count, void *bytes);
	void *data;
};

struct go_question {
	const struct go_memory *memory;
	const struct go_layout *layout; /* its result is GO_READ */
	const struct go_table *table;   /* NULL: stacks are not unwound */
	uint64_t bias;                  /* what addresses in memory are more than the file's */
	uint64_t random;                /* which goroutines are examined follows from it, if not all are */
};

/* Fills in all of the answer but cost_ns. */
void go_read(const struct go_question *question, struct go_answer *answer);
