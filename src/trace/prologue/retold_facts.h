/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What events refer to by a number: stacks, files and sockets, hosts, code of CPython's and threads that
 * are not traced. Each is kept as the event that told it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

struct retold_facts;
struct retold_out;

struct retold_facts *retold_facts_new(void);
void retold_facts_free(struct retold_facts *facts);

/* Nothing counts as told from here on. */
void retold_facts_begin(struct retold_facts *facts);

/* pid: of header.thread, 0: it has none. Events of other kinds are ignored. */
void retold_facts_follow(struct retold_facts *facts, const struct ev_header *header, uint32_t pid,
			 bool is_written);

/* Tells what the event refers to that was not told yet, as of its own time; pid as above. */
void retold_facts_refer(struct retold_facts *facts, const struct ev_header *header, uint32_t pid,
			const struct retold_out *out);

/* As retold_is_wanted(). */
bool retold_facts_want(const struct retold_facts *facts, const struct ev_header *header);
