/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Splits a source into tokens; comments and white space are between them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "buffer.h"

struct source;

enum token_kind {
	TOKEN_END,
	TOKEN_WORD, /* a name, a keyword, a number, or what was meant as one */
	TOKEN_STRING,
	TOKEN_PUNCTUATION, /* one of { } [ ] , ; : + */
};

struct token {
	enum token_kind kind;
	size_t offset, size; /* in the text of the source; of a string, with its quotes */
};

struct lexer {
	const struct source *source;
	struct buffer *messages;
	size_t offset;        /* where to look for the next token */
	struct token token;   /* the current one */
	struct buffer string; /* its value, escapes resolved, when it is a string */
};

/* Stands before the first token; the source has passed source_check(). */
void lexer_init(struct lexer *lexer, const struct source *source, struct buffer *messages);
void lexer_fini(struct lexer *lexer);

/* Moves to the next token, or says in messages what is wrong with it and returns -EINVAL. */
int lexer_advance(struct lexer *lexer);

/* Whether the current token is this word or punctuation. */
bool lexer_is_at(const struct lexer *lexer, const char *text);

/* Adds the current token as it should stand after the words "but found". */
void lexer_describe(const struct lexer *lexer, struct buffer *out);
