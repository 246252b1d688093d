/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8, as strict as RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
#include "utf8.h"

#include "buffer.h"

size_t utf8_decode(const char *text, size_t size, uint32_t *codepoint)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *bytes = (const unsigned char *)text;
	size_t length, i;
	uint32_t c;

	if (!size)
		return 0;
	c = bytes[0];
	length = c < 0x80 ? 1 : c < 0xc0 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf8 ? 4 : 0;
	if (!length || length > size)
		return 0;
	if (length > 1)
		c &= 0x7f >> length;
	for (i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (bytes[i] & 0x3f);
	}
	if (c < smallest[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	*codepoint = c;
	return length;
}

bool utf8_is_visible(uint32_t c)
{
	bool is_control = c < 0x20 || (c >= 0x7f && c <= 0x9f);
	bool is_line_break = c == 0x2028 || c == 0x2029;
	bool is_direction = c == 0x61c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
			    (c >= 0x2066 && c <= 0x2069);

	return !is_control && !is_line_break && !is_direction && c != 0xfeff;
}

void utf8_add_visible(struct buffer *out, const char *text, size_t size, size_t count_max)
{
	size_t at = 0;

	for (; at < size && count_max; count_max--) {
		uint32_t c = 0;
		size_t length = utf8_decode(text + at, size - at, &c);

		if (length && (c == '\t' || utf8_is_visible(c)))
			buffer_add(out, text + at, length);
		else
			buffer_add_char(out, '?');
		at += length ? length : 1;
	}
}
