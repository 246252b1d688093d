/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the worker says about a file: the messages themselves.
 *
 * Owns: what is said of an address, and the book of it that a trace carries.
 * Used by: symbol/python, symbol/ruby, symbol/v8, symbol/go, symbol/java, symbol/object, symbol/worker, symbol/names, symbol, collect, collect/unwind, engine, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/file_stamp.h"
#include "jvm_format.h"
#include "symbol/answer/symbol_names.h"

/* What is wrong with a file, or missing. */
enum answer_flags {
	ANSWER_NOT_ELF = 1 << 0,
	ANSWER_NO_SYMBOLS = 1 << 1,  /* not even the table of exported functions */
	ANSWER_NO_LINES = 1 << 2,    /* no debug information was found */
	ANSWER_BAD_LINES = 1 << 3,   /* there is some, and it is broken */
	ANSWER_STALE_DEBUG = 1 << 4, /* its debug file is of another build */
	ANSWER_NO_SHARED = 1 << 5,   /* its debug file needs another one (dwz) */
	ANSWER_BY_SYMBOLS = 1 << 6,  /* lines were not asked for */
	ANSWER_GOES_ON = 1 << 7,     /* of missing frames: the first one's function is yet to be found */
};

enum { ANSWER_TEXT_BYTES = 48 * 1024, ANSWER_NAME_BYTES = 2048 };

/* Of code at a place in the file. */
struct answer {
	uint32_t flags;
	uint32_t frame_count;     /* 0: nothing is known about the place */
	uint64_t function_offset; /* where its function begins, ~0: unknown */
	struct {
		uint32_t function, file; /* places in text; 0: none */
		uint32_t line;
	} frames[SYMBOL_INLINE_MAX];
	uint32_t text_bytes; /* of strings that end with a NUL; the first is empty */
	char text[ANSWER_TEXT_BYTES];
};

/* Of so many bytes that came from elsewhere: whether they are an answer, whole and within bounds. */
bool answer_is_valid(const struct answer *answer, size_t size_bytes);

enum { VARIABLE_TEXT_BYTES = 3 * ANSWER_NAME_BYTES };

/* Of data at an address, as the file has it. */
struct variable_answer {
	uint32_t flags;
	uint32_t name, type; /* places in text; 0: none */
	uint32_t is_whole;   /* the name stands for all of what is there */
	uint32_t text_bytes; /* as in struct answer */
	char text[VARIABLE_TEXT_BYTES];
};

bool variable_answer_is_valid(const struct variable_answer *answer, size_t size_bytes);

enum { SEGMENTS_MAX = 32 };

/* How the file is loaded. */
struct segments_answer {
	uint32_t count;
	uint32_t reserved;
	struct segment {
		uint64_t file_offset, file_bytes;
		uint64_t address, memory_bytes;
		uint64_t is_code; /* it may be executed */
	} segments[SEGMENTS_MAX];
};

bool segments_answer_is_valid(const struct segments_answer *answer, size_t size_bytes);

enum { CODE_BYTES_MAX = 32 * 1024 };

/* Code around a place in the file. */
struct code_answer {
	uint64_t file_offset; /* of the first byte */
	uint64_t size_bytes;
	uint8_t code[CODE_BYTES_MAX];
};

bool code_answer_is_valid(const struct code_answer *answer, size_t size_bytes);

/* Where a function begins in the file. */
struct function_answer {
	uint64_t is_found;
	uint64_t file_offset;
};

bool symbol_functions_are_valid(const struct symbol_functions *answer, size_t size_bytes);

bool symbol_usdt_is_valid(const struct symbol_usdt *answer, size_t size_bytes);

bool function_answer_is_valid(const struct function_answer *answer, size_t size_bytes);

enum { SOURCES_MAX = 3 };

/* The files that answers about a file come from: itself, its debug file, and the one which that shares with others. */
struct sources_answer {
	uint64_t count;
	struct source {
		struct file_stamp stamp;
		uint64_t hash[2]; /* XXH3 of what is in it: file_hash.h */
	} sources[SOURCES_MAX];   /* zeros after count */
};
_Static_assert(sizeof(struct source) == 64, "no padding: it is compared as bytes");

bool sources_answer_is_valid(const struct sources_answer *answer, size_t size_bytes);

/* Generated code. */
struct jit_answer {
	uint64_t start; /* where it begins */
	uint64_t is_found;
	char name[ANSWER_NAME_BYTES]; /* ends with a NUL */
};

bool jit_answer_is_valid(const struct jit_answer *answer, size_t size_bytes);

enum { MANAGED_NAME_BYTES = 1024, MANAGED_PATH_BYTES = 4096, MANAGED_TABLE_BYTES = 65536 };

enum managed_answer_kind {
	MANAGED_IS_GONE,  /* something else is in its place, or it cannot be read */
	MANAGED_IS_KNOWN, /* it is the one that was known already */
	MANAGED_IS_NEW,
};

/* Code of managed frames: a code object of CPython's, code of Ruby's, or a function of JavaScript. */
struct managed_answer {
	uint64_t identity; /* what was at this address before had another one */
	uint32_t kind;
	uint32_t first_line;                 /* 0: unknown */
	uint32_t function_bytes, file_bytes; /* with their NULs */
	uint32_t table_bytes;                /* 0: too long, or not to be read, or JavaScript */
	uint32_t first_index;                /* as space.MANAGED_CODE has it; 0 unless it is Ruby's */
	uint8_t data[MANAGED_NAME_BYTES + MANAGED_PATH_BYTES + MANAGED_TABLE_BYTES];
};

bool managed_answer_is_valid(const struct managed_answer *answer, size_t size_bytes);

enum go_result {
	GO_READ,
	GO_IS_NONE,    /* the file is not Go's */
	GO_NO_SYMBOLS, /* where the runtime has its list is not known: no symbol table */
	GO_NO_LAYOUT,  /* how it lays out a goroutine is not known: no debug information */
	GO_UNREADABLE, /* the process's memory cannot be read, or makes no sense */
};

enum { GO_EXAMINED_MAX = 256, GO_ROWS_MAX = 256, GO_FRAMES_MAX = 24, GO_REASON_BYTES = 32 };

/* Goroutines that wait for the same at the same place. */
struct go_row {
	uint64_t creator; /* the address behind the call that made them; 0: unknown */
	uint32_t count;
	uint32_t frame_count;           /* 0: their stack could not be read */
	char reason[GO_REASON_BYTES];   /* ends with a NUL */
	uint64_t frames[GO_FRAMES_MAX]; /* return addresses, innermost first */
};

/* What the goroutines of a process do; waiting ones have rows, which have no more of them than that. */
struct go_answer {
	uint32_t result;   /* enum go_result; if not GO_READ, all that follows is 0 */
	uint32_t listed;   /* entries of the runtime's list */
	uint32_t examined; /* of these: all, or as many that were chosen at random; the next ones are of them */
	uint32_t runnable, running, in_syscall, waiting;
	uint32_t row_count;
	uint64_t cost_ns; /* CPU time that reading them took, about */
	struct go_row rows[GO_ROWS_MAX];
};

bool go_answer_is_valid(const struct go_answer *answer, size_t size_bytes);

enum jvm_result {
	JVM_READ,
	JVM_NOT_READY, /* it has only begun */
	JVM_UNKNOWN, /* the file, or the machine, does not say how it keeps its code, or in a way that we do not know */
	JVM_UNREADABLE, /* the process's memory cannot be read, or makes no sense */
};

/* Where a Java virtual machine keeps the code that it generates. */
struct jvm_answer {
	uint32_t result; /* enum jvm_result; if not JVM_READ, all that follows is 0 */
	uint32_t reserved;
	struct jvm_process process;
};

bool jvm_answer_is_valid(const struct jvm_answer *answer, size_t size_bytes);
