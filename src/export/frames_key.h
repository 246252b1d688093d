/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By what call paths are known again that were shown before, wherever their frames lie. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct report_frame;

/* A hash of the frames. Of strings it takes where they lie: one that has a name keeps it. */
uint64_t frames_key(const struct report_frame *frames, size_t count);
