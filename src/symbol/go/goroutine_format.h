/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the runtime of a Go program keeps its goroutines, and what one looks like in memory. */
#pragma once

#include <stdint.h>

#include "symbol/answer/answer.h"

enum {
	GO_REASONS_MAX = 64, /* for which a goroutine may wait */
	GO_GOROUTINE_BYTES_MAX = 1024,
};

struct go_layout {
	enum go_result result; /* GO_READ: all that follows is known */
	/* Addresses, as the file has them. */
	uint64_t list, list_count; /* of two words: where the list of goroutines is, and how many it has */
	/* Offsets in a goroutine's structure, runtime.g, in bytes. */
	uint32_t stack_low, stack_high;
	uint32_t saved_sp, saved_pc; /* of one that does not run */
	uint32_t status;             /* 4 bytes */
	uint32_t reason;             /* 1 byte */
	uint32_t number;
	uint32_t creator;
	uint32_t size_bytes; /* how much of it has all of these */
	uint32_t reason_count;
	char reasons[GO_REASONS_MAX][GO_REASON_BYTES];
};
