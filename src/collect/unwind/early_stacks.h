/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies of stacks that came before the tables of their code, until these are made. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events.h"

struct early_stacks;

struct early_stacks *early_stacks_new(void);
void early_stacks_free(struct early_stacks *stacks);

/* Keeps a copy of the event; false: there is no space for it. */
bool early_stacks_add(struct early_stacks *stacks, const struct ev_stack_memory *e);

/* How many are kept of a process. */
size_t early_stacks_count(const struct early_stacks *stacks, uint32_t pid);

/*
 * Gives those of processes that is_ready() accepts, in the order in which they came, to on_stack, and keeps
 * them no longer. on_stack must not add any.
 */
void early_stacks_take(struct early_stacks *stacks, bool (*is_ready)(void *data, uint32_t pid),
		       void (*on_stack)(void *data, const struct ev_stack_memory *e), void *data);
