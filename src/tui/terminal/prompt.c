/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/terminal/prompt.h"

#include "tui/terminal/keys.h"

enum { TYPED_BYTES_MAX = 200, CONTROL_U = 21, CONTROL_W = 23, CONTROL_H = 8, DELETE = 127 };

void prompt_fini(struct prompt *prompt)
{
	text_fini(&prompt->typed);
}

static void cut_to(struct prompt *prompt, size_t length)
{
	prompt->typed.length = length;
	text_put(&prompt->typed, "");
}

void prompt_begin(struct prompt *prompt, const char *typed)
{
	cut_to(prompt, 0);
	text_put(&prompt->typed, typed);
}

/* Where the last character begins. */
static size_t last_character(const struct prompt *prompt)
{
	size_t i = prompt->typed.length;

	while (i && (prompt->typed.bytes[--i] & 0xc0) == 0x80)
		;
	return i;
}

static void put_character(struct text *text, uint32_t c)
{
	char bytes[4] = { (char)c };
	size_t length = 1;

	if (c >= 0x10000) {
		bytes[0] = (char)(0xf0 | c >> 18);
		length = 4;
	} else if (c >= 0x800) {
		bytes[0] = (char)(0xe0 | c >> 12);
		length = 3;
	} else if (c >= 0x80) {
		bytes[0] = (char)(0xc0 | c >> 6);
		length = 2;
	}
	for (size_t i = 1; i < length; i++)
		bytes[i] = (char)(0x80 | (c >> (6 * (length - 1 - i)) & 0x3f));
	text_put_bytes(text, bytes, length);
}

enum prompt_state prompt_press(struct prompt *prompt, uint32_t key)
{
	switch (key) {
	case '\n':
	case '\r':
		return PROMPT_DONE;
	case KEY_CODE_ESCAPE:
		return PROMPT_CANCELLED;
	case KEY_CODE_BACKSPACE:
	case CONTROL_H:
	case DELETE:
		/* As in less: there is nothing left to take away. */
		if (!prompt->typed.length)
			return PROMPT_CANCELLED;
		cut_to(prompt, last_character(prompt));
		break;
	case CONTROL_U:
	case CONTROL_W:
		cut_to(prompt, 0);
		break;
	default:
		if (key >= ' ' && key < KEY_CODE_FIRST && !(key >= 0xd800 && key < 0xe000) &&
		    prompt->typed.length < TYPED_BYTES_MAX)
			put_character(&prompt->typed, key);
	}
	return PROMPT_OPEN;
}
