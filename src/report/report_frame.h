/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A frame of a call path with its names, as reports show it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct report_frame {
	const char *function; /* NULL: print module+0xoffset */
	const char *file;     /* NULL: not known */
	uint32_t line;
	const char *module;
	uint64_t offset;
	bool is_inlined, is_kernel;
	bool is_guessed; /* its callee has no unwind table: a frame pointer led here */
};
