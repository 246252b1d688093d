/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that reads ELF and DWARF for us. Traced programs choose these files: one can be
 * truncated while it is mapped, unpack to gigabytes, or meet a bug in a library. Then the worker
 * dies, by a signal or a limit, and a fresh one goes on with the other files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/answer.h"
#include "symbol/module.h"
#include "unwind/table_file.h"

struct answer_book;
struct pause;
struct worker;

/* Starts the process; when that fails, asking does. */
struct worker *worker_new(void);
void worker_free(struct worker *worker);

/*
 * Answers are put into a book, and looked for there first; borrowed. is_alone: nowhere else, and what is
 * not there is -ENODATA.
 */
void worker_use_book(struct worker *worker, struct answer_book *book, bool is_alone);

/* Taken while an answer is waited for; borrowed. NULL: none. */
void worker_set_pause(struct worker *worker, struct pause *pause);

/* The peak of the process's resident memory; of several, of the one that took most. */
uint64_t worker_memory_bytes(const struct worker *worker);

/* What will be asked. */
struct worker_question {
	const struct module *module;
	enum worker_question_kind { WORKER_PLACE, WORKER_CODE } kind;
	uint64_t file_offset;
	bool wants_lines;		/* of a place */
	size_t size_bytes;		/* of code */
};

/*
 * Asks many questions at once, for each answer that is waited for alone costs two changes of the thread
 * on a CPU. The answers are found by those who ask these questions before the next call of this. What
 * cannot be answered is left for them to find out.
 */
void worker_ask_ahead(struct worker *worker, const struct worker_question *questions, size_t count);

/* The unwind table of a module, for the caller to free. Errors as those of worker_ask(). */
int worker_ask_table(struct worker *worker, const struct module *module, struct unwind_file *file);

/*
 * 0 and an answer that is valid until the next question; its places in text were checked.
 * -ECHILD: the worker died of this question. -ENOENT and the like: the file cannot be
 * opened. -ECANCELED: there is no worker any more, for too many have died.
 */
int worker_ask(struct worker *worker, const struct module *module, uint64_t file_offset,
	       bool wants_lines, const struct answer **answer);

/* The same for data at an address of the file. */
int worker_ask_variable(struct worker *worker, const struct module *module, uint64_t address,
			bool wants_types, const struct variable_answer **answer);

/* The same for which files the answers come from. */
int worker_ask_sources(struct worker *worker, const struct module *module,
		       const struct sources_answer **answer);

/* The same for how the file is loaded. */
int worker_ask_segments(struct worker *worker, const struct module *module,
			const struct segments_answer **answer);

/*
 * Where a function that the file exports, with a name of up to 255 bytes, begins in it; -ENOENT: it
 * exports none of this name that this machine's 64-bit programs can call, or there is no beginning of
 * an instruction. Errors as above.
 */
int worker_ask_function(struct worker *worker, const struct symbol_open_file *file, const char *name,
			uint64_t *file_offset);

/* All functions that are called so: with a name of up to 255 bytes; its answer is valid as above. */
int worker_ask_functions(struct worker *worker, const struct symbol_open_file *file, const char *name,
			 const struct symbol_functions **answer);

/* The same for up to size_bytes of code around a place in the file. */
int worker_ask_code(struct worker *worker, const struct module *module, uint64_t file_offset,
		    size_t size_bytes, const struct code_answer **answer);
