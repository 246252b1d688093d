/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads numbers and strings of a section that nobody guarantees: beyond its end all are 0. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct byte_cursor {
	const uint8_t *at, *end;
	bool is_bad; /* something did not fit */
};

static inline struct byte_cursor byte_cursor_new(const void *bytes, uint64_t size_bytes)
{
	const uint8_t *at = bytes;

	return (struct byte_cursor){ .at = at, .end = at ? at + size_bytes : at };
}

static inline uint64_t byte_cursor_left(const struct byte_cursor *cursor)
{
	return cursor->end - cursor->at;
}

static inline void byte_cursor_fail(struct byte_cursor *cursor)
{
	cursor->at = cursor->end;
	cursor->is_bad = true;
}

static inline void byte_cursor_skip(struct byte_cursor *cursor, uint64_t count)
{
	if (count > byte_cursor_left(cursor))
		byte_cursor_fail(cursor);
	else
		cursor->at += count;
}

/* A number of 1 to 8 bytes in this machine's order. */
static inline uint64_t byte_cursor_number(struct byte_cursor *cursor, unsigned int size_bytes)
{
	uint64_t value = 0;

	if (size_bytes > sizeof(value) || size_bytes > byte_cursor_left(cursor)) {
		byte_cursor_fail(cursor);
		return 0;
	}
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&value, cursor->at, size_bytes);
#else
	memcpy((uint8_t *)&value + sizeof(value) - size_bytes, cursor->at, size_bytes);
#endif
	cursor->at += size_bytes;
	return value;
}

static inline uint8_t byte_cursor_u8(struct byte_cursor *cursor)
{
	if (cursor->at == cursor->end) {
		cursor->is_bad = true;
		return 0;
	}
	return *cursor->at++;
}

static inline uint64_t byte_cursor_leb(struct byte_cursor *cursor, bool is_signed)
{
	unsigned int shift = 0;
	uint64_t value = 0;
	uint8_t byte;

	do {
		byte = byte_cursor_u8(cursor);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		value |= ~0ull << shift;
	return value;
}

static inline uint64_t byte_cursor_uleb(struct byte_cursor *cursor)
{
	/* Most are small. */
	if (cursor->at != cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return byte_cursor_leb(cursor, false);
}

static inline int64_t byte_cursor_sleb(struct byte_cursor *cursor)
{
	return (int64_t)byte_cursor_leb(cursor, true);
}

/* Empty when it has no end. */
static inline const char *byte_cursor_string(struct byte_cursor *cursor)
{
	uint64_t left = byte_cursor_left(cursor);
	const uint8_t *string = cursor->at;
	const uint8_t *nul = left ? memchr(string, '\0', left) : NULL;

	if (!nul) {
		byte_cursor_fail(cursor);
		return "";
	}
	cursor->at = nul + 1;
	return (const char *)string;
}
