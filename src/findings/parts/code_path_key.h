/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which call path code belongs to, and which function. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct findings;
struct report_frame;

/* Equal for frames of one function. */
uint64_t findings_code_key(const struct report_frame *frame);

/*
 * Equal for stacks that are one call path: by the user's own function in which they ran, *frame, and what called it.
 * There is at least one frame.
 */
uint64_t findings_code_path_key(const struct findings *findings, const struct report_frame *frames, size_t count,
				size_t *frame);
