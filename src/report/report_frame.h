/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame of a call path with its names, as reports show it. frame.def says what is in it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

/* clang-format off */
#include "report/forms/declare.def"
#include "report/frame.def"
#include "report/forms/undef.def"
/* clang-format on */

/* "futex_wait < pthread_mutex_lock < main", escaped; a frame without a name is its module's, with the offset. They are innermost first. */
void report_frames_put(struct text *out, const struct report_frame *frames, size_t count);
