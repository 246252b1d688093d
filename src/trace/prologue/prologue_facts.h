/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What events refer to by a number: stacks, files and sockets, hosts, code of CPython's and Ruby's and threads that
 * are not traced. Each is kept as the event that defined it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

struct prologue_facts;
struct prologue_out;

struct prologue_facts *prologue_facts_new(void);
void prologue_facts_free(struct prologue_facts *facts);

/* Nothing counts as recorded from here on. */
void prologue_facts_begin(struct prologue_facts *facts);

/* pid: of header.thread, 0: it has none. Events of other kinds are ignored. */
void prologue_facts_follow(struct prologue_facts *facts, const struct ev_header *header, uint32_t pid, bool is_written);

/* Records what the event refers to that was not recorded yet, as of its own time; pid as above. */
void prologue_facts_refer(struct prologue_facts *facts, const struct ev_header *header, uint32_t pid,
			  const struct prologue_out *out);

/* As prologue_is_wanted(). */
bool prologue_facts_want(const struct prologue_facts *facts, const struct ev_header *header);
