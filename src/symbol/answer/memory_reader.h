/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The memory of another process, as those who read its objects get it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct memory_reader {
	/* All of it or nothing; false when it cannot be read. */
	bool (*read)(void *data, uint64_t address, void *bytes, size_t size_bytes);
	void *data;
};
