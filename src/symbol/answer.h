/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the worker says about a file: the messages themselves. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/file_stamp.h"
#include "symbol/symbol.h"

/* What is wrong with a file, or missing. */
enum answer_flags {
	ANSWER_NOT_ELF = 1 << 0,
	ANSWER_NO_SYMBOLS = 1 << 1,	/* not even the table of exported functions */
	ANSWER_NO_LINES = 1 << 2,	/* no debug information was found */
	ANSWER_BAD_LINES = 1 << 3,	/* there is some, and it is broken */
	ANSWER_STALE_DEBUG = 1 << 4,	/* its debug file is of another build */
	ANSWER_NO_SHARED = 1 << 5,	/* its debug file needs another one (dwz) */
	ANSWER_BY_SYMBOLS = 1 << 6,	/* lines were not asked for */
};

enum { ANSWER_TEXT_BYTES = 48 * 1024, ANSWER_NAME_BYTES = 2048 };

/* Of code at a place in the file. */
struct answer {
	uint32_t flags;
	uint32_t frame_count;		/* 0: nothing is known of the place */
	uint64_t function_offset;	/* where its function begins, ~0: not known */
	struct {
		uint32_t function, file;	/* places in text; 0: none */
		uint32_t line;
	} frames[SYMBOL_INLINE_MAX];
	uint32_t text_bytes;		/* of strings that end with a NUL; the first is empty */
	char text[ANSWER_TEXT_BYTES];
};

/* Of so many bytes that came from elsewhere: whether they are an answer, whole and within bounds. */
bool answer_is_valid(const struct answer *answer, size_t size_bytes);

enum { VARIABLE_TEXT_BYTES = 3 * ANSWER_NAME_BYTES };

/* Of data at an address, as the file has it. */
struct variable_answer {
	uint32_t flags;
	uint32_t name, type;		/* places in text; 0: none */
	uint32_t is_whole;		/* the name stands for all of what is there */
	uint32_t text_bytes;		/* as in struct answer */
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
		uint64_t is_code;	/* it may be executed */
	} segments[SEGMENTS_MAX];
};

bool segments_answer_is_valid(const struct segments_answer *answer, size_t size_bytes);

enum { CODE_BYTES_MAX = 32 * 1024 };

/* Code around a place in the file. */
struct code_answer {
	uint64_t file_offset;		/* of the first byte */
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

bool function_answer_is_valid(const struct function_answer *answer, size_t size_bytes);

enum { SOURCES_MAX = 3 };

/* The files that answers about a file come from: itself, its debug file, and the one which that shares with others. */
struct sources_answer {
	uint64_t count;
	struct source {
		struct file_stamp stamp;
		uint64_t hash[2];	/* XXH3 of what is in it: file_hash.h */
	} sources[SOURCES_MAX];		/* zeros after count */
};
_Static_assert(sizeof(struct source) == 64, "no padding: it is compared as bytes");

bool sources_answer_is_valid(const struct sources_answer *answer, size_t size_bytes);
