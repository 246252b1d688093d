/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each process has mapped to execute at the moment, and what it calls itself in events of its own. */
#pragma once

#include <stdint.h>

#include "events.h"

struct prologue_out;
struct prologue_spaces;

struct prologue_spaces *prologue_spaces_new(void);
void prologue_spaces_free(struct prologue_spaces *spaces);

void prologue_spaces_follow(struct prologue_spaces *spaces, const struct ev_header *header);

/* All mappings, as space.FOUND, and programs, as user.PROGRAM. */
void prologue_spaces_begin(struct prologue_spaces *spaces, uint64_t time_ns, const struct prologue_out *out);

/* Those of one process. */
void prologue_spaces_emit(struct prologue_spaces *spaces, uint32_t pid, uint64_t time_ns,
			  const struct prologue_out *out);
