/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of the places where threads ran are meant by a function, a line or a call path. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct graph_labels;
struct report_frame;

/* The function is one of the frames': it ran, or what it called. */
bool frames_have_function(const struct report_frame *frames, size_t count, const char *function);

/* "FILE:LINE" is a frame's place; FILE may be the end of its path. */
bool frames_have_line(const struct report_frame *frames, size_t count, const char *line);

/* "A;B;C": A calls B, which calls C, directly but for functions that are not the program's own. */
bool frames_have_path(const struct graph_labels *labels, const struct report_frame *frames, size_t count,
		      const char *path);
