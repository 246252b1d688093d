/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code of managed frames that stacks were in, by address space and address: code objects of CPython's, methods
 * and blocks of Ruby's. It is read while its process lives, when a stack first shows it, by the worker, which nobody
 * waits for.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"
#include "values.h"

struct names;
struct notes;
struct python_codes;
struct session;
struct worker;

/* Borrows all of them. */
struct python_codes *python_codes_new(struct session *session, struct worker *worker, struct names *names,
				      struct notes *notes);
void python_codes_free(struct python_codes *codes);

/* The interpreter of a process. */
struct managed_version {
	enum managed_language language;
	uint32_t number; /* of its version: 0x030b for 3.11; 0: there is none that we know */
};

/*
 * A process in this space runs the code of a managed frame (STACK_FRAME_MANAGED): has it examined. The
 * memory of a code object that is gone can be another's: one that was seen is examined again after a second.
 * What is new is handed out as an event, which one of the next two should get.
 */
void python_codes_look(struct python_codes *codes, uint32_t pid, uint32_t space, uint64_t time_ns,
		       struct managed_version version, uint64_t frame);

/* The code is that of a process in this space. */
void python_codes_add(struct python_codes *codes, uint32_t space, const struct ev_space_python_code *e);
void python_codes_add_managed(struct python_codes *codes, uint32_t space, const struct ev_space_managed_code *e);

struct python_place {
	enum managed_language language;
	const char *function, *file; /* file may be NULL */
	uint32_t line, first_line;   /* 0: unknown */
	uint64_t hash;               /* of function, file and first line */
};

/* What a managed frame is, as the code at that address was at time_ns. */
bool python_codes_find(const struct python_codes *codes, uint32_t space, uint64_t time_ns, uint64_t frame,
		       struct python_place *place);
