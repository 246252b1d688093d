/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "whatif/code_choice.h"

#include <stdlib.h>
#include <string.h>

#include "graph/graph_label.h"
#include "report/report_frame.h"

bool frames_have_function(const struct report_frame *frames, size_t count, const char *function)
{
	for (size_t i = 0; i < count; i++)
		if (graph_frame_is_called(&frames[i], function))
			return true;
	return false;
}

/* Whether a path is the name, or ends with it behind a slash. */
static bool is_file(const char *path, const char *name, size_t length)
{
	size_t path_length = strlen(path);

	if (path_length < length || memcmp(path + path_length - length, name, length))
		return false;
	return path_length == length || path[path_length - length - 1] == '/' || *name == '/';
}

bool frames_have_line(const struct report_frame *frames, size_t count, const char *line)
{
	const char *colon = strrchr(line, ':');
	unsigned long number = colon ? strtoul(colon + 1, NULL, 10) : 0;

	for (size_t i = 0; colon && i < count; i++)
		if (frames[i].file && frames[i].line == number && is_file(frames[i].file, line, colon - line))
			return true;
	return false;
}

static bool is_called(const struct report_frame *frame, const char *name, size_t length)
{
	const char *function = frame->function;

	return function && !strncmp(function, name, length) && (!function[length] || function[length] == '(');
}

/* The place behind the next frame further in that is of the program; 0: there is none. */
static size_t next_own(const struct graph_labels *labels, const struct report_frame *frames, size_t at)
{
	while (at && !graph_frame_is_own(labels, &frames[at - 1]))
		at--;
	return at;
}

/* From the frame that is called as the path begins, inwards. */
static bool goes_on(const struct graph_labels *labels, const struct report_frame *frames, size_t at, const char *path)
{
	for (;;) {
		const char *end = strchrnul(path, ';');

		if (!is_called(&frames[at], path, end - path))
			return false;
		if (!*end)
			return true;
		path = end + 1;
		/* The next one may be a library's function that the path names. */
		if (at && is_called(&frames[at - 1], path, strchrnul(path, ';') - path)) {
			at--;
			continue;
		}
		at = next_own(labels, frames, at);
		if (!at--)
			return false;
	}
}

bool frames_have_path(const struct graph_labels *labels, const struct report_frame *frames, size_t count,
		      const char *path)
{
	for (size_t i = count; i-- > 0;)
		if (goes_on(labels, frames, i, path))
			return true;
	return false;
}
