/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

size_t utf8_put(uint32_t character, uint8_t *bytes)
{
	size_t count = 0;

	if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000))
		character = UTF8_REPLACEMENT;
	if (character < 0x80) {
		bytes[count++] = character;
	} else if (character < 0x800) {
		bytes[count++] = 0xc0 | character >> 6;
		bytes[count++] = 0x80 | (character & 0x3f);
	} else if (character < 0x10000) {
		bytes[count++] = 0xe0 | character >> 12;
		bytes[count++] = 0x80 | (character >> 6 & 0x3f);
		bytes[count++] = 0x80 | (character & 0x3f);
	} else {
		bytes[count++] = 0xf0 | character >> 18;
		bytes[count++] = 0x80 | (character >> 12 & 0x3f);
		bytes[count++] = 0x80 | (character >> 6 & 0x3f);
		bytes[count++] = 0x80 | (character & 0x3f);
	}
	return count;
}
