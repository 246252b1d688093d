/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory as it was before something was tried out, to be put back. What was allocated for the trial
 * in the journal's arena goes with it.
 */
#pragma once

#include <stddef.h>

struct journal;

struct journal *journal_new(void);
void journal_free(struct journal *journal);

/* Remembers what is at place, unless it has been remembered since the last undo. */
void journal_save(struct journal *journal, void *place, size_t size_bytes);

/* Memory until the next undo. */
void *journal_alloc(struct journal *journal, size_t size_bytes);

/* Puts everything back. */
void journal_undo(struct journal *journal);
