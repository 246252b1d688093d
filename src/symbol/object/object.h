/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One mapped file with all that names things in it. Reads nothing before it is asked, and
 * trusts nothing that it reads; still, libelf and libdw were not written for hostile
 * files: programs ask by way of the worker.
 *
 * Owns: one mapped file, with its debug files.
 * Used by: symbol/worker.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/answer/answer.h"
#include "symbol/elf/build_id.h"
#include "symbol/go/go_read.h"
#include "symbol/java/jvm_read.h"
#include "unwind/table_file.h"

struct file_source;
struct object;

/*
 * Takes the descriptor. source is asked for its debug file, which path says where to look for; borrowed, and
 * NULL if there is nobody to ask.
 */
struct object *object_new(int fd, const struct file_source *source, const char *path);

/* The kernel's code in this process, which is the same in every 64-bit process. */
struct object *object_new_vdso(void);
void object_free(struct object *object);

/* Takes the pages of its files out of this process; reading brings back what is needed. */
void object_release(const struct object *object);

/* Gives back what was read of the debug information, as far as it need not be unpacked again. */
void object_shrink(struct object *object);

/* Says what is known about the byte at file_offset. Lines cost more than the function's name. */
void object_find(struct object *object, uint64_t file_offset, bool wants_lines, struct answer *answer);

/* A call, and the function that is found running within it. */
struct missing_question {
	uint64_t file_offset;    /* where the call returns to; is_entry: where the function that was called begins */
	uint64_t callee_offset;  /* where the function that is found begins; ~0: in another file */
	const char *callee_name; /* as people write it; empty: unknown */
	bool is_entry;
	bool wants_lines; /* of the jumps, too */
};

/*
 * Says which functions were entered in between and left no frame, since they went on by a jump: those that all ways
 * from the call to the callee have in common, innermost first; none where the call is an indirect one. The last one
 * begins at the answer's function_offset, and only that may have no name. With
 * ANSWER_GOES_ON the first one, as linked, is a function that the dynamic linker finds: ways go on where it is.
 */
void object_find_missing(struct object *object, const struct missing_question *question, struct answer *answer);

/* The unwind table of its code, for the caller to free. -ENOENT when nothing describes it. */
int object_unwind_file(struct object *object, struct unwind_file *file);

/* How its runtime lays out goroutines; with the result GO_IS_NONE if it is no Go program. */
void object_go_layout(struct object *object, struct go_layout *layout);

/* A mapping of the file, in a process. */
struct object_mapping {
	uint64_t start, file_offset;
};

/*
 * Reads goroutines of a process that has mapped the file: go_read(), with what the question lacks of the file's.
 * False: it has no such place.
 */
bool object_read_goroutines(struct object *object, const struct object_mapping *mapping, struct go_question *question,
			    struct go_answer *answer);

/* Reads where a Java virtual machine that has mapped the file keeps its code: jvm_read(). Fills in layout, too. */
void object_read_jvm(struct object *object, const struct object_mapping *mapping, const struct jvm_memory *memory,
		     struct jvm_layout *layout, struct jvm_answer *answer);

/* Says what is known about the data at an address. Types cost more than the variable's name. */
void object_find_variable(struct object *object, uint64_t address, bool wants_types, struct variable_answer *answer);

/* Says which files all this comes from; one that cannot be read is all zeros. */
void object_sources(struct object *object, struct sources_answer *answer);

void object_segments(const struct object *object, struct segments_answer *answer);

/* Says where a function begins that the file exports, if it is a library or a program of 64 bits. */
void object_find_function(struct object *object, const char *name, struct function_answer *answer);

/* Says where all functions begin that are called so, by their symbols or as people write them. */
void object_find_functions(struct object *object, const char *name, struct symbol_functions *answer);

/*
 * Says where the sites of USDT probes are whose "PROVIDER:PROBE" matches the pattern, as a shell matches file names: from the
 * one with this number on, 0 the first, as many as an answer has, doubtful ones counted along.
 */
void object_find_usdt(struct object *object, const char *pattern, uint64_t first, struct symbol_usdt *answer);

/*
 * Reads up to size_bytes of code: from the beginning of the function that holds file_offset, as far
 * as it goes, or, when that is not within reach, around it.
 */
void object_read_code(struct object *object, uint64_t file_offset, size_t size_bytes, struct code_answer *answer);

/* What the file says that it is; of no bytes if it says nothing. */
void object_build_id(const struct object *object, struct build_id *build_id);
