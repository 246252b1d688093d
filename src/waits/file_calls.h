/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a system call on a file does with it: which way the bytes go, and how many were asked for. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct wait_facts;

enum file_direction {
	FILE_NEITHER, /* to open, to lock, to poll and the like */
	FILE_READING,
	FILE_WRITING, /* also what flushes */
	FILE_DIRECTIONS,
};

enum file_direction file_direction_of(const struct wait_facts *facts);

/* The same, or what a poll of one descriptor waits to be possible. */
enum file_direction file_waited_direction(const struct wait_facts *facts);

/* Whether the call's arguments tell how many bytes it was to move; false also for none. */
bool file_asked_bytes(const struct wait_facts *facts, uint64_t *bytes);
