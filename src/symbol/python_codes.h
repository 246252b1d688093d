/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code objects of CPython's that stacks were in, by address space and address. They are read
 * while their process lives, when a stack first shows them, by the worker, which nobody waits for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "symbol/python/python_layout.h"

struct names;
struct notes;
struct python_codes;
struct session;
struct worker;

/* Borrows all of them. */
struct python_codes *python_codes_new(struct session *session, struct worker *worker, struct names *names,
				      struct notes *notes);
void python_codes_free(struct python_codes *codes);

/*
 * A process in this space runs the code of a managed frame (STACK_FRAME_MANAGED): has it examined. The
 * memory of a code object that is gone can be another's: one that was seen is examined again after a second.
 * What is new is handed out as an event, which python_codes_add() should get.
 */
void python_codes_look(struct python_codes *codes, uint32_t pid, uint32_t space, uint64_t time_ns,
		       const struct python_version *version, uint64_t frame);

/* The code is that of a process in this space. */
void python_codes_add(struct python_codes *codes, uint32_t space, const struct ev_space_python_code *e);

struct python_place {
	const char *function, *file; /* file may be NULL */
	uint32_t line, first_line;   /* 0: unknown */
	uint64_t hash;               /* of function, file and first line */
};

/* What a managed frame is, as the code at that address was at time_ns. */
bool python_codes_find(const struct python_codes *codes, uint32_t space, uint64_t time_ns, uint64_t frame,
		       struct python_place *place);
