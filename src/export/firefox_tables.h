/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all threads of a profile of Firefox Profiler share: strings, functions, frames and stacks, each once. Strings lie in a spill; of
 * the rest there are numbers in memory, with bounds: what finds no space is "[others]". The caller owns the struct.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "export/interned.h"

struct export_files;
struct export_out;
struct report_frame;
struct spill;
struct table;

enum { FIREFOX_NONE = UINT32_MAX };

struct firefox_function {
	uint32_t name;           /* a string */
	uint32_t module, source; /* FIREFOX_NONE: not known */
};

struct firefox_frame {
	uint32_t function, line, category; /* line: 0: not known */
};

struct firefox_stack {
	uint32_t frame, prefix; /* prefix: FIREFOX_NONE: it is a root */
};

struct firefox_tables {
	struct spill *spill;
	uint32_t spilled; /* the strings, in JSON, with commas between them */
	struct interned strings, modules, sources, functions_known, frames_known;
	uint32_t *module_names, *source_names; /* strings */
	size_t module_count, module_capacity, source_count, source_capacity;
	struct arena *arena;
	const char **libraries; /* by module: the base name of its file */
	size_t library_count, library_capacity;
	struct firefox_function *functions;
	size_t function_count, function_capacity;
	struct firefox_frame *frames;
	size_t frame_count, frame_capacity;
	struct firefox_stack *stacks;
	size_t stack_count, stack_capacity;
	struct table *stacks_known, *known; /* numbers: by prefix and frame; by what it was made of */
	struct text words, shown;
};

/* The spill is borrowed, and lives longer. */
void firefox_tables_init(struct firefox_tables *tables, struct spill *spill);
void firefox_tables_fini(struct firefox_tables *tables);

/* The place in the table of strings of one that is not escaped. Of too many, that of "[others]". */
uint32_t firefox_string(struct firefox_tables *tables, const char *string);

/* What a stack ends with that is no code: "[lock: cache.mutex_]". */
struct firefox_label {
	const char *cause, *object; /* object: NULL: not known */
	uint32_t category;
};

/*
 * The number of a stack, from 1 on. Frames come innermost first; their strings and those of the label stay as they are as long as the tables:
 * a stack is known again by where these lie. label: NULL: it has none. category: of its frames of code.
 */
uint32_t firefox_stack(struct firefox_tables *tables, const struct report_frame *frames, size_t count,
		       const struct firefox_label *label, uint32_t category);

/* "libs" and "shared" of the profile; behind the strings, one for each number from 1 to number_count. In firefox_shared.c. */
void firefox_tables_put(struct firefox_tables *tables, struct export_out *out, const struct export_files *files,
			uint64_t number_count);
