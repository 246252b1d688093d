/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The functions of runtimes that stacks were in, by address space and address: code objects of CPython's, methods and
 * blocks of Ruby's, functions of JavaScript. They are read while their process lives, when a stack first shows them, by the worker.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "values.h"

struct managed_codes;
struct names;
struct notes;
struct python_version;
struct ruby_version;
struct session;
struct v8_heap;
struct worker;

/* The runtimes of a process whose functions can be read; NULL: there is none. */
struct managed_runtimes {
	const struct python_version *python;
	const struct ruby_version *ruby;
	const struct v8_heap *v8;
};

/* Whether the frame is JavaScript's; else it is Python's or Ruby's. */
bool managed_is_javascript(uint64_t frame);

/* Borrows all of them. */
struct managed_codes *managed_codes_new(struct session *session, struct worker *worker, struct names *names,
					struct notes *notes);
void managed_codes_free(struct managed_codes *codes);

/*
 * A process in this space runs the code of a managed frame (STACK_FRAME_MANAGED): has it examined. The
 * memory of a function that is gone can be another's: one that was seen is examined again after a second.
 * What is new is handed out as an event, which one of managed_codes_add_python() and managed_codes_add() should get.
 */
void managed_codes_look(struct managed_codes *codes, uint32_t pid, uint32_t space, uint64_t time_ns,
			const struct managed_runtimes *runtimes, uint64_t frame);

/* The process runs: tries again, a few times, what could not be read of it while its objects were being moved. */
void managed_codes_look_again(struct managed_codes *codes, uint32_t pid, uint64_t time_ns);

/* The code is that of a process in this space. */
void managed_codes_add_python(struct managed_codes *codes, uint32_t space, const struct ev_space_python_code *e);
void managed_codes_add(struct managed_codes *codes, uint32_t space, const struct ev_space_managed_code *e);

/* Whether any function of a process in this space has a name. */
bool managed_codes_has(const struct managed_codes *codes, uint32_t space);

struct managed_place {
	enum managed_language language;
	const char *function, *file; /* file may be NULL */
	uint32_t line, first_line;   /* 0: unknown */
	uint64_t hash;               /* of function, file and first line */
};

/* What a managed frame is, as the code at that address was at time_ns. */
bool managed_codes_find(const struct managed_codes *codes, uint32_t space, uint64_t time_ns, uint64_t frame,
			struct managed_place *place);
