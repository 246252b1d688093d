/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked of the worker; an answer of answer.h comes back, or struct table_answer. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { WORKER_PATH_BYTES_MAX = 4096, WORKER_NAME_BYTES = 256 };

enum question_kind {
	QUESTION_PLACE,		/* what code is at file_offset? */
	QUESTION_TABLE,		/* the unwind table: a descriptor of an unwind_file comes back */
	QUESTION_VARIABLE,	/* what data is at address? */
	QUESTION_SEGMENTS,	/* how is the file loaded? */
	QUESTION_CODE,		/* size_bytes of code around file_offset */
	QUESTION_FUNCTION,	/* where is the exported function? */
	QUESTION_FUNCTIONS,	/* where are all that are called so? */
	QUESTION_SOURCES,	/* which files do answers come from? */
};

struct question {
	uint32_t module;	/* number; the worker remembers its file */
	uint32_t pid;
	union {
		uint64_t file_offset;
		uint64_t address;	/* as the file has it */
	};
	uint8_t kind;
	uint8_t wants_debug;	/* lines and types, not only symbols */
	uint8_t has_file;	/* the first question about it: a descriptor comes along */
	uint8_t is_vdso;
	uint32_t size_bytes;
	uint8_t is_once;	/* about a file of no number, which is forgotten */
	uint8_t reserved[7];
	char function[WORKER_NAME_BYTES];	/* its name */
	char path[];		/* with has_file: ends with a NUL */
};
_Static_assert(offsetof(struct question, path) == sizeof(struct question), "path follows what is sent before it");

struct table_answer {
	int32_t err;		/* 0: a descriptor comes along */
};

/* Answers the questions that come over the socket until it closes. For a process of its own. */
_Noreturn void worker_serve(int socket);
