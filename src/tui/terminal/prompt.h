/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A line of text that the user types. The caller owns the struct; zeroed it is empty. */
#pragma once

#include <stdint.h>

#include "base/text.h"

enum prompt_state { PROMPT_OPEN, PROMPT_DONE, PROMPT_CANCELLED };

struct prompt {
	struct text typed;
};

void prompt_fini(struct prompt *prompt);

/* Begins again with what stands there already. */
void prompt_begin(struct prompt *prompt, const char *typed);

enum prompt_state prompt_press(struct prompt *prompt, uint32_t key);
