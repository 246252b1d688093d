/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files share that do what symbol.h says. */
#pragma once

#include "symbol/symbol.h"

struct answer;
struct answer_book;
struct answer_cache;
struct space_hit;

struct symbols {
	struct session *session;
	struct mapped_files *files;
	struct spaces *spaces; /* these three are the files' */
	struct modules *modules;
	struct jit_names *jit;
	struct helper_pair *helpers;
	struct opener *opener;
	struct worker *worker;
	struct arena *requests; /* for unwind tables, one a module */
	struct asker *asker;
	struct answer_cache *cache;      /* NULL: none */
	struct answer_book *book;        /* of a recording; NULL: none */
	size_t notes_kept;               /* in the book */
	struct kernel_functions *kernel; /* NULL: nobody knows */
	symbol_member_fn *kernel_member; /* NULL: nobody knows */
	void *kernel_member_data;
	struct managed_frames *managed;
	struct java_methods *methods;
	struct names *names;
	struct program_names *programs;
	struct notes *notes;
	struct places *places;
	struct known_code *code;
	struct tail_calls *tail_calls;
	struct variables *variables;
	struct java_maps *java_maps; /* NULL: no JVM is asked */
	bool is_offline;
	bool has_noted_kernel; /* that a recording lacks them */
	uint32_t noted_hints;  /* a bit for each of jit_hint() */
	uint32_t hinted_space; /* the last one that this was about */
};

/* symbol_answers.c: nothing but what a recording says is asked from now on; no file is opened. */
void symbols_use_recorded(struct symbols *symbols);

/* symbol_answers.c: what a recording says of generated code; NULL when it says nothing. */
const char *symbols_recorded_jit_name(struct symbols *symbols, const struct space_hit *hit, uint64_t address,
				      uint64_t *start);

/* symbol_answers.c: the same of the methods of a Java virtual machine's code. */
const struct answer *symbols_recorded_methods(struct symbols *symbols, const struct space_hit *hit, uint64_t address);

/* symbol_answers.c: fills in what a recording says of an address of the kernel, if anything. */
void symbols_resolve_recorded_kernel(struct symbols *symbols, uint64_t address, struct symbol_frame *frame);
