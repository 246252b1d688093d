/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the agent keeps on disk: traces of the last windows, those of which a trigger was the reason longest, up to a size; and rollups, a
 * file a window, below a directory of its day: rollups/2026-11-28/HOST-120000.123.jsonl. Names begin with the time of day in UTC.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

struct agent_store;

/* Makes the directories. 0 or a negative errno, after a message. */
int agent_store_open(const char *directory, uint64_t size_bytes, struct agent_store **out);
void agent_store_close(struct agent_store *store);

struct agent_paths {
	struct text trace, rollup;
	struct text rollup_part; /* of the rollup, as long as it is written */
};

void agent_paths_fini(struct agent_paths *paths);

/* Of a window that begins now. reason: "" or a word that triggered it, of letters. 0 or a negative errno, after a message. */
int agent_store_paths(const struct agent_store *store, const char *reason, struct agent_paths *paths);

/* The trace of that window was recorded for a reason after all: its name gets it. */
void agent_store_mark(struct agent_paths *paths, const char *reason);

/* Removes the oldest traces until they have their size; those with a reason last. */
void agent_store_trim(struct agent_store *store);

/* Of the traces, after that. */
uint64_t agent_store_bytes(const struct agent_store *store);
