/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In the worker: what JIT compilers call their code, by space. Bounded for each user, and together, too.
 *
 * Owns: symbol files of JIT compilers.
 * Used by: symbol/worker, symbol.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct jit_maps;

/* give: a descriptor of the file of a space, or a negative errno. */
struct jit_maps *jit_maps_new(int (*give)(void *data, uint32_t space), void *data);

/*
 * Reads what was added to the file of a space. 0; -ENOENT: there is none; -EPERM, -EKEYREJECTED: it is not trusted; -E2BIG:
 * part of it is read, and no more will be; or as give has it.
 */
int jit_maps_read(struct jit_maps *maps, uint32_t space);

/* Nothing of this space will be asked for any more. */
void jit_maps_forget(struct jit_maps *maps, uint32_t space);

/* The name of the code at an address, and where that begins. -ENOENT: it has none; others as above. */
int jit_maps_find(struct jit_maps *maps, uint32_t space, uint64_t address, char *name, size_t capacity_bytes,
		  uint64_t *start);
