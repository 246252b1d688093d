/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The call paths of stack.FRAMES, each kept once. Owns them; they stay until
 * stacks_free(). The frames of a stack may arrive later than the events that name it, so
 * look them up when they are shown.
 *
 * Owns: call paths, and which of their functions are boilerplate.
 * Used by: any folder above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/session.h"

struct stacks;

/* Stacks beyond stacks_max are dropped and counted; 0: default. */
struct stacks *stacks_new(struct session *session, size_t stacks_max);
void stacks_free(struct stacks *stacks);

/* A frame of the user's, as values.h packs it into one word. */
struct stack_frame {
	uint64_t address; /* with STACK_FRAME_MANAGED it is none, but names know it */
	bool is_return;   /* the address follows a call; else the thread was just there */
	bool is_guessed;  /* found by a frame pointer, for lack of a table */
};

/* i counts from the innermost one, 0. */
struct stack_frame stack_user_frame(const struct ev_stack_frames *stack, size_t i);

/* NULL when the frames of this stack never came. */
const struct ev_stack_frames *stacks_find(const struct stacks *stacks, uint64_t stack);

struct stacks_counts {
	uint64_t kept, resent, dropped;
};

struct stacks_counts stacks_counts(const struct stacks *stacks);
