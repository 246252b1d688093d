/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A source file in memory, and the error messages that point into it. A source borrows its path
 * and owns its text; whatever was parsed from it borrows both.
 */
#pragma once

#include <stddef.h>

#include "buffer.h"

struct source {
	const char *path;
	struct buffer text;
};

/* Reads the file and checks it with source_check(). Says what is wrong in messages. */
int source_read(struct source *source, const char *path, struct buffer *messages);
void source_fini(struct source *source);

/* -EINVAL when a byte is NUL or no UTF-8: the lexer relies on neither being there. */
int source_check(const struct source *source, struct buffer *messages);

/* Both count from 1; a column is a character, a tab being one. */
void source_locate(const struct source *source, size_t offset, size_t *line, size_t *column);

/* Adds "path:line:column: error: ...", the line and a caret to messages. Returns -EINVAL. */
int source_error(const struct source *source, size_t offset, struct buffer *messages, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
