/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trace must tell again that begins in the middle of another one, so that it is as good as if
 * tracing had begun there: who lives and does what, what is mapped where, and what the events refer to.
 * Follows a stream in its order; what it keeps is bounded by what lives and by how much is named.
 *
 * For each event of the stream: prologue_refer(), then the event is written, then prologue_follow().
 *
 * Owns: what a trace says first that begins in the middle of another one.
 * Used by: trace, engine, derive, cmd.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "trace/prologue/prologue_out.h"

struct prologue;

struct prologue *prologue_new(void);
void prologue_free(struct prologue *prologue);

/* Takes a well-formed event in; is_written: the trace that was begun last has it. */
void prologue_follow(struct prologue *prologue, const struct ev_header *header, bool is_written);

/*
 * Says what a trace needs that begins at time_ns, before the next event and not before the last one.
 * Whatever was recorded before counts as not recorded from here on.
 */
void prologue_begin(struct prologue *prologue, uint64_t time_ns, const struct prologue_out *out);

/*
 * Records what an event refers to, as far as the trace that was begun last does not have it: stacks,
 * files and sockets, hosts, code of CPython's and Ruby's, threads that are not traced, and threads that have died.
 */
void prologue_refer(struct prologue *prologue, const struct ev_header *header, const struct prologue_out *out);

/* Whether the event says what others refer to: a stack, a file or socket, a host, code, another thread, a lock. */
bool prologue_is_fact(const struct ev_header *header);

/*
 * Whether header defines something that the trace has referred to and does not have. For who writes
 * such events only where they are needed.
 */
bool prologue_is_wanted(const struct prologue *prologue, const struct ev_header *header);

/* What a thread is called, as of the moment, as thread.FOUND has it; NULL: it is unknown. */
const struct ev_thread_found *prologue_thread(const struct prologue *prologue, uint32_t number);

/* Says what a process has mapped. */
void prologue_emit_mappings(struct prologue *prologue, uint32_t pid, uint64_t time_ns, const struct prologue_out *out);
