/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was said of addresses, by question: what a trace carries of names, so that it can be read where
 * neither the files nor the processes are. Entries are kept as the trace has them; what they hold is
 * for those to check who asked.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct answer_book;

/* What an entry is about; permanent. */
enum book_kind {
	BOOK_PLACE = 1,            /* owner: a file, place: offset in it; struct answer */
	BOOK_PLACE_BY_SYMBOLS = 2, /* the same, lines were not asked for */
	BOOK_VARIABLE = 3,         /* of a file, at an address as it has it; struct variable_answer */
	BOOK_SEGMENTS = 4,         /* of a file; struct segments_answer */
	BOOK_CODE = 5,             /* of a file, at an offset and the size << 48; struct code_answer */
	BOOK_FILE = 6,             /* of a file; struct book_file */
	BOOK_KERNEL = 7,           /* at an address; struct book_function */
	BOOK_JIT = 8,              /* of an address space, at an address; struct book_function */
	BOOK_NOTE = 9,             /* numbered from 0 on; a sentence for the user */
	BOOK_KERNEL_MEMBER = 10,   /* of a type, by a hash of its name, at an offset; struct book_function */
	BOOK_MISSING = 11,         /* of a file, by a hash of call and callee; struct answer */
	BOOK_EXPORTED = 12,        /* of a file, by a hash of a function's name; struct function_answer */
	BOOK_METHODS = 13,         /* of an address space, at an address; struct answer */
};

/* Of the place of code. */
enum { BOOK_CODE_SIZE_SHIFT = 48 };

struct book_entry {
	uint32_t kind;
	uint32_t size_bytes; /* of the content, which is filled up with zeros to a multiple of 8 */
	uint64_t owner, place;
};
_Static_assert(sizeof(struct book_entry) == 24, "this layout is the file format");

/* What only a look at the whole file says. */
struct book_file {
	uint64_t versions; /* of interpreters in it, see table_file.h: CPython's, and Ruby's << 16 */
};

struct book_function {
	uint64_t start; /* its address */
	char text[];    /* its name and its module, each with a NUL */
};

struct answer_book *answer_book_new(void);
void answer_book_free(struct answer_book *book);

/* Adds an entry, unless there is one of its kind, owner and place. */
void answer_book_put(struct answer_book *book, enum book_kind kind, uint64_t owner, uint64_t place, const void *content,
		     size_t size_bytes);

/* The content, aligned to 8 bytes and valid until the next is put; NULL when there is none. */
const void *answer_book_find(const struct answer_book *book, enum book_kind kind, uint64_t owner, uint64_t place,
			     size_t *size_bytes);

/*
 * Entries that were not taken yet, of about 4 MB at most and valid until the next is put; *size_bytes is
 * 0 when there are none.
 */
const void *answer_book_take(struct answer_book *book, size_t *size_bytes);

/* Adds entries as they were taken; -EBADMSG: they are not whole from somewhere on. */
int answer_book_add(struct answer_book *book, const void *entries, size_t size_bytes);

/* Of a function; the module may be NULL. */
void answer_book_put_function(struct answer_book *book, enum book_kind kind, uint64_t owner, uint64_t address,
			      uint64_t start, const char *name, const char *module);

/* NULL when there is none; *module and the name are as long valid as the content. */
const char *answer_book_find_function(const struct answer_book *book, enum book_kind kind, uint64_t owner,
				      uint64_t address, uint64_t *start, const char **module);
