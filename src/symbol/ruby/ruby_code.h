/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads what a frame of Ruby's runs, in the memory of another process, which may hold anything. */
#pragma once

#include "symbol/answer/answer.h"
#include "symbol/ruby/ruby_lines.h"
#include "symbol/ruby/ruby_memory.h"

/* What tells code apart that had one address after each other. */
struct ruby_code_key {
	uint64_t name, path; /* addresses of objects */
	uint64_t units;      /* address of the code, which consists of words */
	uint64_t class;      /* that has the method; 0: it is a block, or the like */
	struct ruby_lines lines;
};

/* Strings are as they are in the program, cut if too long. */
struct ruby_code {
	char name[MANAGED_NAME_BYTES]; /* "Class#method", "Class.method", "block in method" */
	char file[MANAGED_PATH_BYTES];
	uint8_t table[MANAGED_TABLE_BYTES]; /* of lines, as python_lines.h reads it */
	size_t table_bytes;                 /* 0: too long, or not to be read */
};

/* As one number. */
uint64_t ruby_code_identity(const struct ruby_code_key *key);

/* What frames in it have at its first instruction: in units, the lowest bits (STACK_MANAGED_INDEX). */
uint32_t ruby_code_first_index(const struct ruby_code_key *key);

/*
 * At the address of a method's entry, or of an instruction sequence. index: what a frame in it has. False: it is
 * neither, or the frame is not in it.
 */
bool ruby_code_read_key(const struct ruby_memory *memory, uint64_t address, uint32_t index, struct ruby_code_key *key);

/* False unless it has a name. */
bool ruby_code_read(const struct ruby_memory *memory, const struct ruby_code_key *key, struct ruby_code *code);
