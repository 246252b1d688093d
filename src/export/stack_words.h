/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks in one line, "futex_wait < pthread_mutex_lock < main". Those met before are remembered, as long as there is space for them. */
#pragma once

#include <stddef.h>

struct report_frame;
struct stack_words;

struct stack_words *stack_words_new(void);
void stack_words_free(struct stack_words *words);

/* The line, escaped, until the next call. Strings of the frames, innermost first, stay as they are as long as the words. */
const char *stack_words_of(struct stack_words *words, const struct report_frame *frames, size_t count);
