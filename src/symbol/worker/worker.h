/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Asks a process that reads ELF, DWARF, the symbol files of JIT compilers and objects of managed languages for us. Traced
 * programs choose what it reads: a file can be truncated while it is mapped, unpack to gigabytes, meet a bug in
 * a library, or never be read to its end. Then the process dies, by a signal or a limit, or is left to its
 * fate, and a fresh one goes on with the other files.
 *
 * Some answers are waited for. Others come later: what is to be done with them is called by worker_step().
 *
 * Owns: the process that reads files, the questions it is asked, and what answers may cost.
 * Used by: symbol.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/answer/answer.h"
#include "symbol/space/module.h"
#include "unwind/table_file.h"
#include "values.h"

struct answer_book;
struct helper_pair;
struct helper_roles;
struct opener;
struct v8_heap;
struct worker;

/* The processes that it takes. */
const struct helper_roles *worker_roles(void);

/* Borrows both. */
struct worker *worker_new(struct helper_pair *pair, struct opener *opener);
void worker_free(struct worker *worker);

/*
 * Answers are put into a book, and looked for there first; borrowed. is_alone: nowhere else, and what is
 * not there is -ENODATA.
 */
void worker_use_book(struct worker *worker, struct answer_book *book, bool is_alone);

/* Takes the answers that have come, and does what was to be done with them. To be called often. */
void worker_step(struct worker *worker);

/* The same until all answers have come, or limit_ns have passed. */
void worker_settle(struct worker *worker, uint64_t limit_ns);

/* Readable when an answer has come; -1: none is waited for. */
int worker_poll_fd(const struct worker *worker);

/* A call in a module, and the function that was found running within it. */
struct worker_call {
	uint64_t file_offset;    /* where the call returns to; is_entry: where the function begins that was called */
	uint64_t callee_offset;  /* where the function that was found begins; ~0: in another file */
	const char *callee_name; /* as people write it; NULL: unknown */
	bool is_entry;
};

/* The place of what is missing there, in books and in the cache of answers. */
uint64_t worker_call_place(const struct worker_call *call);

/* What will be asked. */
struct worker_question {
	const struct module *module;
	enum worker_question_kind { WORKER_PLACE, WORKER_CODE, WORKER_MISSING } kind;
	uint64_t file_offset;    /* of a place and of code */
	bool wants_lines;        /* of a place and of missing frames */
	size_t size_bytes;       /* of code */
	struct worker_call call; /* of missing frames */
};

/*
 * Asks many questions at once, for each answer that is waited for alone costs two changes of the thread
 * on a CPU. The answers are found by those who ask these questions before the next call of this. What
 * cannot be answered is left for them to find out.
 */
void worker_ask_ahead(struct worker *worker, const struct worker_question *questions, size_t count);

/*
 * Asks for the unwind table of a module. on_table gets it, for the receiver to free, or an error as those of
 * worker_ask(). 0, or -errno if nothing will come.
 */
typedef void worker_on_table(void *data, const struct module *module, int err, struct unwind_file *file);
int worker_ask_table(struct worker *worker, const struct module *module, worker_on_table *on_table, void *data);

/* Code of managed frames, in a process, as the frames name it. */
struct managed_question {
	enum managed_language language;
	uint32_t pid;
	uint64_t address;
	uint64_t identity;             /* of what is known; 0: nothing */
	const struct v8_heap *v8_heap; /* of JavaScript */
	uint32_t version;              /* of other languages */
	uint32_t index;                /* of an instruction, as frames have it; of CPython's ~0: unknown */
};

/*
 * 0 and the function, valid until the next question; -ETIMEDOUT, -ECHILD if the process does not let its
 * memory be read, which takes a second or two to find out; -EDQUOT if that took too much time in all; -EACCES:
 * its user's processes are not read any more. What comes later in a session's stream may be named after it: so
 * it is waited for.
 */
int worker_ask_managed(struct worker *worker, const struct managed_question *question,
		       const struct managed_answer **answer);

/* A process that has mapped a Go program, and where. */
struct go_process {
	uint32_t pid;
	uint64_t start, file_offset; /* of a mapping of it */
	uint32_t random;             /* which of its goroutines are examined follows from it */
};

/*
 * Asks what its goroutines do. on_goroutines gets the answer, valid until it returns, or an error as those of
 * worker_ask_managed() or worker_ask(). 0, or -errno if nothing will come.
 */
typedef void worker_on_goroutines(void *data, uint32_t pid, int err, const struct go_answer *answer);
int worker_ask_goroutines(struct worker *worker, const struct module *module, const struct go_process *process,
			  worker_on_goroutines *on_goroutines, void *data);

/* A process that has mapped the library of a Java virtual machine, and where. */
struct jvm_place {
	uint32_t pid;
	uint64_t start, file_offset; /* of a mapping of it */
};

/* The same of where its machine keeps the code that it generates. */
typedef void worker_on_jvm(void *data, uint32_t pid, int err, const struct jvm_answer *answer);
int worker_ask_jvm(struct worker *worker, const struct module *module, const struct jvm_place *place,
		   worker_on_jvm *on_jvm, void *data);

/*
 * Asks at once which methods the code at an address is of that this machine compiled, as of a place in a file, or what the method
 * at an address is that it interprets: valid until the next question. err as those of worker_ask_managed().
 */
int worker_ask_methods(struct worker *worker, const struct module *module, const struct jvm_place *place,
		       uint64_t address, bool is_interpreted, const struct answer **answer);

/* Whose process it is: USER_UNKNOWN if nobody knows. */
uint32_t worker_user_of(const struct worker *worker, uint32_t pid);

/*
 * Has what a JIT compiler wrote read, which the opener knows of by its space; user: of the process. err as
 * jit_maps_read() has it, or as above.
 */
typedef void worker_on_jit(void *data, uint32_t space, int err);
int worker_read_jit(struct worker *worker, uint32_t space, uint32_t user, worker_on_jit *on_jit, void *data);

/* Has that forgotten. */
void worker_forget_jit(struct worker *worker, uint32_t space);

/* The name of generated code; valid until the next question. 0 or -errno. */
int worker_ask_jit(struct worker *worker, uint32_t space, uint32_t user, uint64_t address,
		   const struct jit_answer **answer);

/*
 * 0 and an answer that is valid until the next question; its places in text were checked.
 * -ECHILD: the worker died of this question. -ENOENT and the like: the file cannot be
 * opened. -ECANCELED: there is no worker any more, for too many have died.
 */
int worker_ask(struct worker *worker, const struct module *module, uint64_t file_offset, bool wants_lines,
	       const struct answer **answer);

/* The same for data at an address of the file. */
int worker_ask_variable(struct worker *worker, const struct module *module, uint64_t address, bool wants_types,
			const struct variable_answer **answer);

/* The same for which files the answers come from. */
int worker_ask_sources(struct worker *worker, const struct module *module, const struct sources_answer **answer);

/* What the file says that it is; of no bytes if it says nothing. */
int worker_ask_build_id(struct worker *worker, const struct module *module, struct build_id *build_id);

/* The same for how the file is loaded. */
int worker_ask_segments(struct worker *worker, const struct module *module, const struct segments_answer **answer);

/* The same for which functions left no frame in between, as object_find_missing() says. */
int worker_ask_missing(struct worker *worker, const struct module *module, const struct worker_call *call,
		       bool wants_lines, const struct answer **answer);

/*
 * Where a function that the file exports, with a name of up to 255 bytes, begins in it; -ENOENT: it
 * exports none of this name that this machine's 64-bit programs can call, or there is no beginning of
 * an instruction. Errors as above.
 */
int worker_ask_function(struct worker *worker, const struct module *module, const char *name, uint64_t *file_offset);

/* All functions that are called so: with a name of up to 255 bytes; its answer is valid as above. */
int worker_ask_functions(struct worker *worker, const struct module *module, const char *name,
			 const struct symbol_functions **answer);

/* The sites of USDT probes, from a number on, as object_find_usdt() says; the pattern has up to 255 bytes. */
int worker_ask_usdt(struct worker *worker, const struct module *module, const char *pattern, uint64_t first,
		    const struct symbol_usdt **answer);

/* The same for up to size_bytes of code around a place in the file. */
int worker_ask_code(struct worker *worker, const struct module *module, uint64_t file_offset, size_t size_bytes,
		    const struct code_answer **answer);
