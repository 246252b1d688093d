/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The places of many processes, by the number of their address space. Each takes a descriptor: a user who has too
 * many loses the oldest, and of all users but root, whoever has most.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct jit_places;

struct jit_places *jit_places_new(size_t user_count_max, size_t count_max);
void jit_places_free(struct jit_places *places);

/* Of a living process: 0 or as jit_place_find() has it. */
int jit_places_find(struct jit_places *places, uint32_t space, uint32_t pid);

/* As jit_place_open() has it; -ENOSPC: it was lost. */
int jit_places_open(const struct jit_places *places, uint32_t space);

void jit_places_forget(struct jit_places *places, uint32_t space);
