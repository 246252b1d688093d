/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What pinch has found, ready to be shown: ranked, named, grouped. Views read it and
 * compute nothing. Strings that a traced program chose are as it wrote them: views escape.
 * The report owns all it points to. A key gives the same thing in all reports of a run.
 * Its structs are described in .def files, a line a member; a count that is no list's is of what its name says.
 *
 * Owns: what a report consists of; it computes nothing.
 * Used by: any folder above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"
#include "report/report_frame.h"

struct blame_part;
struct blocked_source;
struct report_memory_limit;
struct report_root;

/* report.code.functions has the first ones. */
enum { REPORT_CODE_FUNCTIONS_MAX = 200 };

/* Of a file system, as the kernel numbers them. */
struct report_device {
	uint32_t major, minor;
};

/* How many of a row's threads were in a state, on average over a part of the time traced. */
struct report_strip_part {
	float running, runnable, blocked;
};

/* clang-format off */
#include "report/forms/declare.def"
#include "report/all.def"
#include "report/forms/undef.def"
/* clang-format on */

/* A function in which critical slices were, whatever their call paths. */
struct report_hot_function {
	struct report_function function;
	uint64_t cmetric_ns; /* its part of each path's, by samples */
};
