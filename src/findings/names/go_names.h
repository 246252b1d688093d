/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What names of Go's functions say: "compress/flate.(*Writer).Write", "main.serve.func1", "example.org/shop.serve". */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct report_frame;

/* Whether the frame is of code in Go. */
bool go_is(const struct report_frame *frame);

/* Whether it is of Go's standard library or runtime. */
bool go_is_library(const struct report_frame *frame);

/* The innermost frame of the program's own code in Go, with a name of its own if there is one: no closure. NULL: none. */
const struct report_frame *go_find_own(const struct report_frame *frames, size_t count);
