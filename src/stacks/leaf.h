/* SPDX-License-Identifier: GPL-2.0-or-later */
/* In which function of its call path a thread ran. */
#pragma once

#include <stddef.h>

struct report_frame;

/*
 * Of count frames, at least one, innermost first. What the interpreter does for a function of Python or Ruby, in code of its
 * own or of the kernel, is that function's.
 */
const struct report_frame *stack_leaf(const struct report_frame *frames, size_t count);
