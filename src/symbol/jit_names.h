/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The symbol files of JIT compilers, one for each address space that has one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct jit_names;
struct notes;
struct opener;
struct worker;

/* Borrows all of them. */
struct jit_names *jit_names_new(struct opener *opener, struct worker *worker, struct notes *notes);
void jit_names_free(struct jit_names *names);

/* Has the process's file for this space read, or what was added to it. */
void jit_names_keep(struct jit_names *names, uint32_t space, uint32_t pid);

/* The same, at once: the process has written it. */
void jit_names_renew(struct jit_names *names, uint32_t space, uint32_t pid);

void jit_names_forget(struct jit_names *names, uint32_t space);

/* Whether a file was found for the space. */
bool jit_names_has(const struct jit_names *names, uint32_t space);

/*
 * Looks an address of a space up. pid, unless 0: the process lives, and its file is examined
 * again from time to time.
 */
bool jit_names_find(struct jit_names *names, uint32_t space, uint32_t pid, uint64_t address, char *name,
		    size_t size_bytes, uint64_t *start);
