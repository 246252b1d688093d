/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kernel lock is, by the functions that wait for it (share/klock.rules). */
#pragma once

#include <stddef.h>

#include "values.h"

struct klock_words;
struct report_frame;

struct klock_words *klock_words_new(void);
void klock_words_free(struct klock_words *words);

/* The first frame of the kernel that wanted the lock, behind those that take it; NULL: unknown. One of frames. */
const struct report_frame *klock_words_wanting(const struct klock_words *words, const struct report_frame *frames,
					       size_t count);

/* "tasklist_lock"; NULL: that function says nothing. Lives as long as words. */
const char *klock_words_name(const struct klock_words *words, const struct report_frame *frames, size_t count);
