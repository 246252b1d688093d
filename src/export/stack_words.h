/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths as one string. */
#pragma once

#include <stddef.h>

struct report_frame;
struct text;

/* Functions from the innermost one on, with " < " between two, escaped; "" if there are none. */
void stack_words_put(struct text *out, const struct report_frame *frames, size_t count);
