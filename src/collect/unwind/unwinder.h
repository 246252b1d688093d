/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Gives the kernel side what it needs to unwind (unwind_format.h): a table for each file that
 * traced processes execute, made once and shared by all of them, and for each process the list of
 * what lies where.
 *
 * Owns: unwind tables in the kernel's memory: which, for whom, how long.
 * Used by: live.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"
#include "symbol/symbol.h"
#include "values.h"

struct jvm_process;
struct unwinder;

struct unwinder_options {
	int chunks_fd, spaces_fd; /* maps of the kernel side: chunks of tables, spaces by pid */
	uint32_t depth;           /* frames at most */
	uint64_t bytes_max;       /* of kernel memory for tables and lists; 0: 256 MB */
	uint64_t rest_ns;         /* after which such memory is used again; 0: 2 s */
};

/*
 * Subscribes to the space events of session; symbols must have done so before. Borrows both. A
 * stack.MEMORY becomes a stack.FRAMES, when the tables that it takes are made.
 */
struct unwinder *unwinder_new(struct session *session, struct symbols *symbols, const struct unwinder_options *options);
void unwinder_free(struct unwinder *unwinder);

/* The mappings of the process are known, from symbols_add_process(): the next updates ask for its tables. */
void unwinder_expect_process(struct unwinder *unwinder, uint32_t pid);

/* Asks for those of all processes that are expected, however long that takes. */
void unwinder_add_expected(struct unwinder *unwinder);

/* Where the Java virtual machine of a process keeps its code: the kernel side follows stacks through it from now on. */
void unwinder_set_jvm(struct unwinder *unwinder, uint32_t pid, const struct jvm_process *jvm);

/*
 * Brings the kernel side up to date with the events that came, as far as that takes some
 * milliseconds. True when there were any: more often come soon, or are left.
 */
bool unwinder_update(struct unwinder *unwinder);

/* No more tables come: what waits for some is unwound with those that there are. */
void unwinder_finish(struct unwinder *unwinder);

struct unwinder_counts {
	size_t tables;      /* files that have one now */
	size_t table_bytes; /* of kernel memory, lists included */
	uint64_t dropped;   /* tables and lists beyond the bound */
	/* Of the stacks that came before the tables of their code. */
	uint64_t stack_ends[STACK_ENDS], stack_frames;
};

struct unwinder_counts unwinder_counts(const struct unwinder *unwinder);
