/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the versions of CPython that we know lay out what we read of them. */
#pragma once

#include <stdint.h>

#include "python_format.h"

/* What a code object, and the objects that it leads to, look like; in bytes. */
struct python_code_layout {
	uint8_t first_line, file_name, qualified_name, line_table;
	uint8_t bytes;            /* all of these lie before it */
	uint8_t ascii_text, text; /* of a string, by its kind */
};

struct python_version {
	uint32_t number;             /* 0x030b for 3.11 */
	struct python_layout frames; /* for the kernel side */
	struct python_code_layout code;
};

/* NULL: not a version that we know. */
const struct python_version *python_version_find(uint32_t number);
