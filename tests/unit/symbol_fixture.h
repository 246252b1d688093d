/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs to ask about, and events that map them. */
#pragma once

#include <stdint.h>

#include "session/session.h"
#include "symbol/symbol.h"

enum { NOBODY = 4100000 }; /* a process that does not exist, except for the events */

#define MAP_START 0x7f0000000000ull
#define MAP_BYTES 0x100000ull

struct fixture {
	struct session *session;
	struct symbols *symbols;
	struct symbol_frame frames[SYMBOL_INLINE_MAX];
	size_t count;
};

/* The script in symbol_inputs/ that builds the programs; build.sh unless another one is chosen. */
extern const char *inputs_script;

/* The folder with what the script built; built at the first call, removed at exit. */
const char *inputs_path(void);

/* DIR/name; valid until the next call but three. */
const char *input(const char *name);

/* Where a symbol of that file lies in the file. */
uint64_t input_offset(const char *name, const char *symbol);

/* A symbol's address as the file has it. */
uint64_t input_address(const char *name, const char *symbol);

/* Calls for the address of each variable in the file's symbol table. */
void each_input_variable(const char *name, void (*on_variable)(void *data, uint64_t address), void *data);

/* The number of the line in inlined.c that has the comment "LINE name". */
uint32_t input_line(const char *name);

void fixture_begin(struct fixture *fixture);
void fixture_end(struct fixture *fixture);

void push_map(struct fixture *fixture, uint64_t time_ns, uint32_t pid, uint64_t start, uint64_t size_bytes,
	      uint64_t file_offset, const char *path);
/* Maps the code of a file that is loaded at a base, as the kernel does. */
void push_code(struct fixture *fixture, uint64_t time_ns, uint32_t pid, uint64_t base, const char *name);
void push_map_of_inode(struct fixture *fixture, uint64_t time_ns, uint64_t device, uint64_t inode, const char *path);
void push_exec(struct fixture *fixture, uint64_t time_ns, uint32_t pid);
void push_fork(struct fixture *fixture, uint64_t time_ns, uint32_t pid, uint32_t parent_pid);
void push_exit(struct fixture *fixture, uint64_t time_ns, uint32_t pid);

/* Resolves what lies at a place of a file that is mapped at MAP_START into fixture->frames. */
void resolve(struct fixture *fixture, uint64_t offset);

/* Maps one file and resolves a symbol's place, which the twin file says. */
void resolve_in(struct fixture *fixture, const char *name, const char *twin, const char *symbol);

/* True when a note holds both texts. */
int has_note(const struct fixture *fixture, const char *text, const char *text2);
