/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Managed frames, as stacks have them (STACK_FRAME_MANAGED), to functions of Python, Ruby and JavaScript. A frame means
 * something only with an address space.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct modules;
struct names;
struct notes;
struct managed_frames;
struct spaces;
struct symbol_frame;
struct threads;
struct worker;

/* Subscribes to session; borrows all of them. */
struct managed_frames *managed_frames_new(struct session *session, struct spaces *spaces, struct modules *modules,
					  struct worker *worker, struct names *names, struct notes *notes);
void managed_frames_free(struct managed_frames *frames);

/* Looks at the session's stacks, and at their processes; threads tell whose they are. */
void managed_frames_follow(struct managed_frames *frames, struct threads *threads);

/* Whether any function of a process in this space has a name. */
bool managed_frames_has(const struct managed_frames *frames, uint32_t space);

/* Always fills in *frame; without a function when that is unknown. */
void managed_frames_resolve(const struct managed_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
			    struct symbol_frame *frame);

/*
 * What is equal for equal lines, or functions, in all processes; false when it is unknown. Then
 * *space says in which space the managed frame is what it is.
 */
bool managed_frames_place(const struct managed_frames *frames, uint32_t pid, uint64_t time_ns, uint64_t managed,
			  bool whole_function, uint64_t *place, uint32_t *space);
