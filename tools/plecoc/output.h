/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the result: whole or not at all. */
#pragma once

struct buffer;

/*
 * Writes to the file, or to standard output when path is NULL. A file that cannot be written in
 * full stays as it was. Says what went wrong in messages.
 */
int output_write(const char *path, const struct buffer *content, struct buffer *messages);
