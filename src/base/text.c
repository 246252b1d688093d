/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/memory.h"

void text_fini(struct text *text)
{
	free(text->bytes);
	*text = (struct text){ 0 };
}

static void text_reserve(struct text *text, size_t count)
{
	size_t wanted = text->length + count + 1;

	if (wanted <= text->capacity)
		return;
	text->capacity = wanted * 2;
	text->bytes = xrealloc(text->bytes, text->capacity, 1);
}

void text_put_bytes(struct text *text, const char *bytes, size_t count)
{
	text_reserve(text, count);
	memcpy(text->bytes + text->length, bytes, count);
	text->length += count;
	text->bytes[text->length] = '\0';
}

void text_put(struct text *text, const char *string)
{
	text_put_bytes(text, string, strlen(string));
}

void text_put_varint(struct text *text, uint64_t value)
{
	enum { VARINT_BYTES_MAX = 10 };
	char *at;

	text_reserve(text, VARINT_BYTES_MAX);
	at = text->bytes + text->length;
	for (; value >= 0x80; value >>= 7)
		*at++ = value | 0x80;
	*at++ = value;
	*at = '\0';
	text->length = at - text->bytes;
}

static void put_digits(struct text *text, uint64_t value, unsigned int base, unsigned int digits_min)
{
	enum { DIGITS_MAX = 20 };
	char digits[DIGITS_MAX];
	unsigned int count = 0;

	for (; value || count < digits_min; value /= base)
		digits[DIGITS_MAX - ++count] = "0123456789abcdef"[value % base];
	text_put_bytes(text, digits + DIGITS_MAX - count, count);
}

void text_put_decimal(struct text *text, uint64_t value, unsigned int digits_min)
{
	put_digits(text, value, 10, digits_min);
}

void text_put_hexadecimal(struct text *text, uint64_t value, unsigned int digits_min)
{
	put_digits(text, value, 16, digits_min);
}

void text_printf(struct text *text, const char *format, ...)
{
	va_list args, again;
	int length;

	va_start(args, format);
	va_copy(again, args);
	length = vsnprintf(NULL, 0, format, args);
	text_reserve(text, length);
	vsnprintf(text->bytes + text->length, length + 1, format, again);
	text->length += length;
	va_end(again);
	va_end(args);
}

/*
 * Bytes of the valid UTF-8 sequence that bytes begin with, 0 when there is none
 * (overlong forms, surrogates and values above U+10FFFF are invalid: RFC 3629).
 */
static size_t utf8_sequence(const char *string)
{
	const unsigned char *s = (const unsigned char *)string;
	unsigned int low = 0x80, high = 0xbf;
	size_t length;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		length = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		length = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		length = 4;
	else
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	for (size_t i = 1; i < length; i++) {
		if (s[i] < low || s[i] > high)
			return 0;
		low = 0x80;
		high = 0xbf;
	}
	return length;
}

/*
 * C0, DEL, and the C1 controls U+0080..U+009F, which some terminals obey; and what reorders or
 * breaks a line of text: U+200E/F, U+2028/9, U+202A..202E, U+2066..2069.
 */
static bool is_control(const char *sequence, size_t length)
{
	const unsigned char *s = (const unsigned char *)sequence;

	if (length == 1)
		return s[0] < 0x20 || s[0] == 0x7f;
	if (length == 2)
		return s[0] == 0xc2 && s[1] < 0xa0;
	if (length == 3 && s[0] == 0xe2 && s[1] == 0x80)
		return s[2] == 0x8e || s[2] == 0x8f || (s[2] >= 0xa8 && s[2] <= 0xae);
	return length == 3 && s[0] == 0xe2 && s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9;
}

void text_put_escaped(struct text *text, const char *string)
{
	while (*string) {
		size_t length = utf8_sequence(string);

		if (length && !is_control(string, length)) {
			text_put_bytes(text, string, length);
			string += length;
			continue;
		}
		for (size_t end = length ? length : 1; end; end--)
			text_printf(text, "\\x%02x", (unsigned char)*string++);
	}
}

static wchar_t decode(const char *sequence, size_t length)
{
	static const unsigned char masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	wchar_t c = sequence[0] & masks[length];

	for (size_t i = 1; i < length; i++)
		c = c << 6 | (sequence[i] & 0x3f);
	return c;
}

void text_put_json_string(struct text *text, const char *string)
{
	text_put(text, "\"");
	while (*string) {
		size_t length = utf8_sequence(string);

		if (!length) {
			text_put(text, "\\ufffd");
			string++;
			continue;
		}
		if (*string == '"' || *string == '\\')
			text_printf(text, "\\%c", *string);
		else if (is_control(string, length))
			text_printf(text, "\\u%04x", (unsigned int)decode(string, length));
		else
			text_put_bytes(text, string, length);
		string += length;
	}
	text_put(text, "\"");
}

size_t text_next(const char *string, size_t *columns)
{
	size_t length = utf8_sequence(string);
	int width;

	if (length < 2) { /* ASCII, or what is no character at all */
		*columns = (*string & 0xc0) != 0x80;
		return 1;
	}
	width = wcwidth(decode(string, length));
	*columns = width < 0 ? 1 : width;
	return length;
}

void text_put_without_numbers(struct text *text, const char *name)
{
	bool is_number = false;

	for (; *name; name++) {
		if (!isdigit((unsigned char)*name))
			text_put_bytes(text, name, 1);
		else if (!is_number)
			text_put(text, "*");
		is_number = isdigit((unsigned char)*name);
	}
}

size_t text_columns(const char *string)
{
	size_t sum = 0, columns;

	while (*string) {
		string += text_next(string, &columns);
		sum += columns;
	}
	return sum;
}

static void put_scaled(struct text *text, double value, const char *unit)
{
	text_printf(text, "%.*f %s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, unit);
}

void text_put_duration(struct text *text, uint64_t duration_ns)
{
	if (duration_ns < 1000)
		text_printf(text, "%llu ns", (unsigned long long)duration_ns);
	else if (duration_ns < 999500)
		put_scaled(text, duration_ns / 1e3, "us");
	else if (duration_ns < 999500000)
		put_scaled(text, duration_ns / 1e6, "ms");
	else if (duration_ns < 100000000000)
		put_scaled(text, duration_ns / 1e9, "s");
	else if (duration_ns < 3600000000000)
		text_printf(text, "%llu min %llu s", (unsigned long long)(duration_ns / 60000000000),
			    (unsigned long long)(duration_ns / 1000000000 % 60));
	else
		text_printf(text, "%llu h %llu min", (unsigned long long)(duration_ns / 3600000000000),
			    (unsigned long long)(duration_ns / 60000000000 % 60));
}

void text_put_size(struct text *text, uint64_t size_bytes)
{
	static const char *const units[] = { "KB", "MB", "GB", "TB" };
	double value = size_bytes / 1024.0;
	size_t i = 0;

	if (size_bytes < 1024) {
		text_printf(text, "%llu B", (unsigned long long)size_bytes);
		return;
	}
	while (value >= 1023.95 && i < 3) {
		value /= 1024;
		i++;
	}
	text_printf(text, "%.1f %s", value, units[i]);
}

void text_put_count(struct text *text, uint64_t count)
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			text_put(text, ",");
		text_put_bytes(text, &digits[i], 1);
	}
}

struct unit {
	const char *name; /* NULL: there are no more */
	double factor;
};

static const struct unit times[] = {
	{ "ns", 1 },     { "us", 1e3 },   { "ms", 1e6 },    { "s", 1e9 }, { "m", 60e9 },
	{ "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 }, { 0 },
};

static const struct unit sizes[] = {
	{ "K", 1ull << 10 },  { "M", 1ull << 20 },  { "G", 1ull << 30 },
	{ "T", 1ull << 40 },  { "KB", 1ull << 10 }, { "MB", 1ull << 20 },
	{ "GB", 1ull << 30 }, { "TB", 1ull << 40 }, { 0 },
};

/* A number of at least so much, and its unit. */
static int quantity_parse(const char *string, const struct unit *unit, double min, uint64_t *quantity)
{
	char *end;
	double value;

	if (!isdigit((unsigned char)*string) && *string != '.')
		return -EINVAL;
	errno = 0;
	value = strtod(string, &end);
	if (errno || end == string || string[strspn(string, "0123456789.")] != *end)
		return -EINVAL;
	while (unit->name && strcmp(end, unit->name))
		unit++;
	value *= unit->factor;
	if (!unit->name || !(value >= min && value < 9.2e18))
		return -EINVAL;
	*quantity = (uint64_t)(value + 0.5);
	return 0;
}

int duration_parse(const char *string, uint64_t *duration_ns)
{
	return quantity_parse(string, times, 1, duration_ns);
}

int moment_parse(const char *string, uint64_t *moment_ns)
{
	return quantity_parse(string, times, 0, moment_ns);
}

int size_parse(const char *string, uint64_t *size_bytes)
{
	return quantity_parse(string, sizes, 1, size_bytes);
}
