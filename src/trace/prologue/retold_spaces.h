/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each process has mapped to execute at the moment. */
#pragma once

#include <stdint.h>

#include "events.h"

struct retold_out;
struct retold_spaces;

struct retold_spaces *retold_spaces_new(void);
void retold_spaces_free(struct retold_spaces *spaces);

void retold_spaces_follow(struct retold_spaces *spaces, const struct ev_header *header);

/* All mappings, as space.FOUND. */
void retold_spaces_begin(struct retold_spaces *spaces, uint64_t time_ns,
			 const struct retold_out *out);

/* Those of one process. */
void retold_spaces_tell(struct retold_spaces *spaces, uint32_t pid, uint64_t time_ns,
			const struct retold_out *out);
