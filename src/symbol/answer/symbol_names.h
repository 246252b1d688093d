/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What code and data are called, and where functions are: as whoever reads a file says it, and whoever asks gets it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "usdt_format.h"

struct symbol_frame {
	const char *function; /* demangled; NULL when only module and offset are known */
	const char *file;     /* source file, NULL when not known */
	uint32_t line;        /* 0 when not known */
	const char *module;   /* base name of the mapped file, "[kernel]", "[vdso]", "[jit]",
				 * "[python]", "[ruby]", "[java]" and "[javascript]" for functions of these, "[node]" */
	const char *program;  /* the name that the program runs under, if it is not module's; else NULL */
	uint64_t offset;      /* in the file, where function is NULL that of its beginning, if that is
				 * known; of the kernel, in the function; of [jit], address;
				 * of [python], [ruby] and [javascript], of what the frame names, or 0 */
	bool is_inlined;      /* part of the frame that follows it */
	bool is_kernel;
};

enum { SYMBOL_INLINE_MAX = 16, SYMBOL_TAIL_MAX = 16 };

struct symbol_object {
	const char *name;   /* of the variable and the member there, as users write it: "cache",
				 * "cache.lock", "shards[3].lock", "f()::count"; ends in "+0x18"
				 * where types are unknown; NULL when nothing but module and
				 * offset is known */
	const char *type;   /* of what is named, "pthread_mutex_t"; NULL when not known */
	const char *module; /* base name of the mapped file */
	uint64_t offset;    /* the address as the file has it, as nm(1) shows it */
	bool is_whole;      /* the name needs no number after it */
};

enum { FUNCTION_PLACES_MAX_FILE = 1024 };

/* An instruction at which a function begins or ends; where it jumps, it may end. */
struct function_place {
	uint64_t file_offset;
	uint64_t kind;
};

enum function_place_kind { FUNCTION_BEGINS, FUNCTION_RETURNS, FUNCTION_JUMPS };

/* Functions of a file. */
struct symbol_functions {
	struct function_place places[FUNCTION_PLACES_MAX_FILE];
	uint32_t place_count;
	uint32_t function_count;
	uint64_t is_cut;         /* some are not in the list: too many, or of an unknown size */
	uint64_t doubtful_count; /* others: symbols that point to where no function can be */
};

enum { USDT_PLACES_MAX_ANSWER = 64, USDT_NAME_BYTES = 64 };

/* A site of a USDT probe. */
struct usdt_place {
	uint64_t file_offset;
	uint64_t semaphore_offset; /* in the file, of the counter of those who trace it; 0: none */
	char provider[USDT_NAME_BYTES], name[USDT_NAME_BYTES]; /* letters, digits and underscores */
	uint32_t argument_count;
	uint32_t reserved;
	struct usdt_argument arguments[USDT_ARGUMENTS_MAX];
};

/* Sites of a file. */
struct symbol_usdt {
	struct usdt_place places[USDT_PLACES_MAX_ANSWER];
	uint32_t count;
	uint32_t has_more;
	uint64_t doubtful_count; /* others, before those that follow: where no probe can be */
};
