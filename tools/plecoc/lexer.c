/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tokens of the Pleco language. */
#include "lexer.h"

#include <string.h>

#include "source.h"
#include "utf8.h"

enum { DESCRIBED_COUNT_MAX = 60 }; /* characters of a token in an error message */

void lexer_init(struct lexer *lexer, const struct source *source, struct buffer *messages)
{
	*lexer = (struct lexer){ .source = source, .messages = messages };
}

void lexer_fini(struct lexer *lexer)
{
	buffer_fini(&lexer->string);
}

/* The byte so far ahead, or NUL behind the end: the text itself holds none. */
static char peek(const struct lexer *lexer, size_t ahead)
{
	const struct buffer *text = &lexer->source->text;

	return ahead < text->size - lexer->offset ? text->data[lexer->offset + ahead] : '\0';
}

/* Wider than C's identifiers, so that 9lives or a-b is reported whole and not as two tokens. */
static bool is_word_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
	       c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int skip_comment(struct lexer *lexer)
{
	size_t begin = lexer->offset;

	for (lexer->offset += 2; peek(lexer, 0); lexer->offset++) {
		if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
			lexer->offset += 2;
			return 0;
		}
	}
	return source_error(lexer->source, begin, lexer->messages, "unterminated comment");
}

static int skip_blanks_and_comments(struct lexer *lexer)
{
	int err;

	for (;;) {
		if (is_blank(peek(lexer, 0))) {
			lexer->offset++;
		} else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '/') {
			while (peek(lexer, 0) && peek(lexer, 0) != '\n')
				lexer->offset++;
		} else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*') {
			err = skip_comment(lexer);
			if (err)
				return err;
		} else {
			return 0;
		}
	}
}

static int read_escape(struct lexer *lexer)
{
	static const char escapes[] = "\"\"\\\\n\nt\t"; /* what is written, what it means */
	int i;

	for (i = 0; escapes[i]; i += 2) {
		if (peek(lexer, 1) == escapes[i]) {
			buffer_add_char(&lexer->string, escapes[i + 1]);
			lexer->offset += 2;
			return 0;
		}
	}
	return source_error(lexer->source, lexer->offset, lexer->messages,
			    "unknown escape in a string: the escapes are \\\" \\\\ \\n \\t");
}

static int read_string(struct lexer *lexer)
{
	size_t begin = lexer->offset;
	int err;

	buffer_clear(&lexer->string);
	lexer->offset++;
	for (;;) {
		char c = peek(lexer, 0);

		if (c == '\0')
			return source_error(lexer->source, begin, lexer->messages, "unterminated string");
		if (c == '\n')
			return source_error(lexer->source, begin, lexer->messages,
					    "line break in a string: close it, or write \\n");
		if (c == '\\' && peek(lexer, 1)) {
			err = read_escape(lexer);
			if (err)
				return err;
			continue;
		}
		lexer->offset++;
		if (c == '"')
			break;
		buffer_add_char(&lexer->string, c);
	}
	lexer->token.kind = TOKEN_STRING;
	return 0;
}

int lexer_advance(struct lexer *lexer)
{
	/* A file that ends too early is reported where it stops making sense, not lines below. */
	size_t end = lexer->token.offset + lexer->token.size;
	int err = skip_blanks_and_comments(lexer);
	char c;

	if (err)
		return err;
	lexer->token = (struct token){ .offset = lexer->offset };
	c = peek(lexer, 0);
	if (!c) {
		lexer->token = (struct token){ .kind = TOKEN_END, .offset = end };
		return 0;
	}
	if (c == '"') {
		err = read_string(lexer);
	} else if (is_word_char(c)) {
		while (is_word_char(peek(lexer, 0)))
			lexer->offset++;
		lexer->token.kind = TOKEN_WORD;
	} else if (strchr("{}[],;:+", c)) {
		lexer->offset++;
		lexer->token.kind = TOKEN_PUNCTUATION;
	} else if (c > ' ' && c <= '~') {
		err = source_error(lexer->source, lexer->offset, lexer->messages, "unexpected character '%c'", c);
	} else {
		err = source_error(lexer->source, lexer->offset, lexer->messages, "unexpected control character 0x%02x",
				   c);
	}
	lexer->token.size = lexer->offset - lexer->token.offset;
	return err;
}

bool lexer_is_at(const struct lexer *lexer, const char *text)
{
	const struct token *token = &lexer->token;

	return (token->kind == TOKEN_WORD || token->kind == TOKEN_PUNCTUATION) && token->size == strlen(text) &&
	       !memcmp(lexer->source->text.data + token->offset, text, token->size);
}

void lexer_describe(const struct lexer *lexer, struct buffer *out)
{
	const struct token *token = &lexer->token;

	if (token->kind == TOKEN_END) {
		buffer_add_text(out, "the end of the file");
	} else if (token->kind == TOKEN_STRING) {
		buffer_add_text(out, "a string");
	} else {
		buffer_add_char(out, '\'');
		utf8_add_visible(out, lexer->source->text.data + token->offset, token->size, DESCRIBED_COUNT_MAX);
		buffer_add_char(out, '\'');
	}
}
