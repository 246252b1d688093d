/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is asked of the worker. Each question has an answer, in the order of the questions: a header, and if
 * its err is 0, what answer.h has for that kind. No descriptor comes with an answer: what the worker gives is
 * bytes, and no limit on the size of files (ulimit -f) is about them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "helper/spawner.h"
#include "symbol/answer/answer.h"
#include "symbol/elf/build_id.h"
#include "unwind/v8_heap.h"

enum {
	WORKER_PATH_BYTES_MAX = 4096,
	WORKER_NAME_BYTES = 256,
	WORKER_ANSWER_SECONDS_MAX = 60, /* includes what a debuginfod server may take */
	WORKER_MANAGED_SECONDS_MAX = 2, /* a few pages of memory */
	WORKER_JIT_SECONDS_MAX = 5,     /* 64 MB of lines take half a second */
	WORKER_GO_SECONDS_MAX = 10,     /* the debug information of a large program, once */
	WORKER_JVM_SECONDS_MAX = 2,     /* some 200 KB of memory */
};

enum question_kind {
	QUESTION_PLACE,      /* what code is at file_offset? */
	QUESTION_TABLE,      /* the unwind table, as an unwind_file: before the answer its bytes come in parts */
	QUESTION_VARIABLE,   /* what data is at address? */
	QUESTION_SEGMENTS,   /* how is the file loaded? */
	QUESTION_CODE,       /* size_bytes of code around file_offset */
	QUESTION_FUNCTION,   /* where is the exported function? */
	QUESTION_FUNCTIONS,  /* where are all that are called so? */
	QUESTION_SOURCES,    /* which files do answers come from? */
	QUESTION_BUILD_ID,   /* what does the file say that it is? */
	QUESTION_JIT,        /* what generated code of the space module is at address? */
	QUESTION_JIT_READ,   /* nothing: its names are read as far as they are written */
	QUESTION_JIT_FORGET, /* nothing: they will not be asked for any more */
	QUESTION_PYTHON,     /* the code object at address of the process pid */
	QUESTION_RUBY,       /* the same of Ruby's code */
	QUESTION_JAVASCRIPT, /* the same of a SharedFunctionInfo */
	QUESTION_MISSING,    /* what left no frame between a call and a function? */
	QUESTION_GOROUTINES, /* what do the goroutines of the process pid do, which has mapped the file at address? */
	QUESTION_JVM,        /* where does the JVM of the process pid keep its code, which has mapped the file so? */
	QUESTION_METHODS,    /* which methods is the code at generated_code of, of that machine? */
	QUESTION_USDT,       /* where are the sites of USDT probes, from number file_offset on? */
};

struct question {
	uint32_t sequence;
	uint32_t module; /* number; of generated code, its space's */
	uint32_t pid;
	uint32_t version; /* of Python or Ruby */
	union {
		uint64_t file_offset;
		uint64_t address; /* as the file has it; in memory, of generated and managed code */
	};
	union {
		uint64_t code_identity;  /* of managed code: of what is known already; 0: nothing */
		uint64_t callee_offset;  /* of missing frames: where the callee begins; ~0: in another file */
		uint64_t mapping_offset; /* of goroutines and JVMs: in the file, of what is mapped there */
	};
	union {
		uint32_t code_index; /* of an instruction in the code, as frames have it; of Python ~0: unknown */
		uint32_t random;     /* of goroutines: which of them are examined follows from it */
	};
	uint32_t size_bytes;
	uint32_t cpu_ms_max; /* that the answer may take, and memory besides what there is; 0: the default */
	uint32_t memory_mb_max;
	uint8_t kind;
	uint8_t wants_debug; /* lines and types, not only symbols */
	uint8_t has_path;    /* the first question about the module: its path comes along */
	uint8_t is_vdso;
	uint8_t build_id_bytes; /* with has_path: the file must have this one; 0: any */
	uint8_t build_id[BUILD_ID_BYTES_MAX];
	uint8_t is_entry;       /* of missing frames: file_offset is where the function that was called begins */
	uint8_t is_interpreted; /* of methods: it is the address of one, not of its code */
	uint8_t reserved;
	union {
		char function[WORKER_NAME_BYTES]; /* its name; of probes, a pattern of names */
		struct v8_heap v8_heap;           /* of JavaScript */
		uint64_t generated_code;          /* of methods: its address */
	};
	/* With has_path: then the path, which ends with a NUL. */
};

struct worker_answer {
	uint32_t sequence;
	int32_t err;                 /* 0 or a negative errno; WORKER_GOES_ON: it is a part of a table */
	uint64_t cpu_ns, elapsed_ns; /* that it took */
};

enum { WORKER_GOES_ON = 1, WORKER_PART_BYTES = 48 * 1024 };

/* Any of them. */
union worker_content {
	uint8_t part[WORKER_PART_BYTES];
	struct answer place;
	struct variable_answer variable;
	struct segments_answer segments;
	struct code_answer code;
	struct function_answer function;
	struct symbol_functions functions;
	struct sources_answer sources;
	struct build_id build_id;
	struct jit_answer jit;
	struct managed_answer managed;
	struct go_answer go;
	struct jvm_answer jvm;
	struct symbol_usdt usdt;
};

/* Whether it can be an answer to such a question. */
bool worker_content_is_valid(enum question_kind kind, const union worker_content *content, size_t size_bytes);

/* The process: answers questions until the socket closes. */
void worker_serve(const struct helper_sockets *sockets);
