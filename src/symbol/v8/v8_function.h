/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads what a function of JavaScript is called in the memory of another process, which may hold anything. The
 * process's garbage collector may move what is read: each object is checked for what it says that it is.
 *
 * Owns: what is known of V8: where it says how its heap is laid out, and its functions.
 * Used by: symbol/object, symbol/worker.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "symbol/answer/answer.h"
#include "symbol/answer/memory_reader.h"
#include "unwind/v8_heap.h"

/* Which function it is, among those that had one address after each other. */
struct v8_function_key {
	uint64_t name, script; /* words */
	uint32_t token;        /* between its name and its parameters */
};

/* Strings are UTF-8; cut if too long. */
struct v8_function {
	char name[MANAGED_NAME_BYTES]; /* empty: it has none */
	char file[MANAGED_PATH_BYTES]; /* or what else its script is called; empty: it has none */
	uint32_t line;                 /* in which it begins; 0: unknown */
	bool is_whole;                 /* else its line could not be read, and may be later */
};

/* As one number. */
uint64_t v8_function_identity(const struct v8_function_key *key);

/* address: of a SharedFunctionInfo. False: there is none, or it cannot be read. */
bool v8_function_read_key(const struct memory_reader *memory, const struct v8_heap *heap, uint64_t address,
			  struct v8_function_key *key);

/* False: it cannot be read; else function has what can be found out. */
bool v8_function_read(const struct memory_reader *memory, const struct v8_heap *heap, const struct v8_function_key *key,
		      struct v8_function *function);
