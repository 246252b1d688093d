/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8: checking it, and showing text from a file without letting it play with the terminal. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buffer;

/* The length in bytes of the character at the start of text, 0 when there is no valid one. */
size_t utf8_decode(const char *text, size_t size, uint32_t *codepoint);

/* False for control characters and for those that change the direction of the text around them. */
bool utf8_is_visible(uint32_t codepoint);

/* Adds at most count_max characters; '?' stands for each invisible one but the tab. */
void utf8_add_visible(struct buffer *out, const char *text, size_t size, size_t count_max);
