/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths by name, and what these names say of a wait: for reports, and for all else that shows call
 * paths. Owns what it hands out, until path_names_free() or path_names_drop().
 *
 * Owns: what things are called in a report: call paths, objects, locks, threads.
 * Used by: findings/parts, findings/blame, findings/code, findings/patterns, findings/verdict, findings, graph, query.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_frame.h"
#include "stacks/stacks.h"
#include "values.h"
#include "waits/wait_names.h"

struct path_names;
struct pause;
struct symbols;

/* pause: taken while names are looked up; NULL: none. */
struct path_names *path_names_new(struct symbols *symbols, const struct stacks *stacks, struct pause *pause);
void path_names_free(struct path_names *names);

/*
 * If frames that were handed out take more than that, they are forgotten and no longer valid; their strings are. Whether they were:
 * for those who go through more call paths than fit into memory.
 */
bool path_names_drop(struct path_names *names, size_t bytes_max);

/* The first of the kernel's frames that is not our own or the scheduler's. */
size_t path_names_kernel_begin(const struct path_names *names, const struct ev_stack_frames *stack);

/*
 * How many of the user's frames are believable. Code that keeps no frame pointers leaves garbage in
 * their place: the first address that lies in no code ends the stack.
 */
size_t path_names_usable_count(const struct path_names *names, uint32_t pid, uint64_t time_ns,
			       const struct ev_stack_frames *stack);

/*
 * Whether the user's frame i called the one within it by machine code. A frame that was guessed may be the caller's
 * caller.
 */
bool path_names_has_callee(const struct ev_stack_frames *stack, size_t i);

/*
 * The frames of a stack of the address space that the process had at time_ns. end: why there are no more,
 * or NULL. Returns how many; 0: none are known.
 */
size_t path_names_frames(struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t stack,
			 const struct report_frame **frames, enum stack_end *end);

/* The same of a sample, as sched.SAMPLE has these; of one without a stack the place alone. */
size_t path_names_sample_frames(struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t stack, uint64_t ip,
				uint64_t kernel_ip, const struct report_frame **frames, enum stack_end *end);

/*
 * What would give names to code that the process generated, a sentence that stays valid; NULL: these frames have names
 * of it, or there is none of it in them nor, is_sampled, elsewhere.
 */
const char *path_names_hint(const struct path_names *names, uint32_t pid, const struct report_frame *frames,
			    size_t count, bool is_sampled);

/* Why a thread waits: what facts tell, cause, and what the functions on its stack say of that. */
struct wait_meaning path_names_meaning(struct path_names *names, uint32_t pid, uint64_t time_ns, uint64_t stack,
				       const struct wait_facts *facts, enum wait_cause cause);

/* The same of what has no stack. */
struct wait_meaning path_names_meaning_of(const struct path_names *names, const struct wait_facts *facts,
					  enum wait_cause cause, const struct report_frame *frames, size_t count);
