/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing piece of text, and the ways in which numbers and hostile strings become
 * readable. The caller owns the struct; text_fini() frees what it holds.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct text {
	char *bytes; /* NUL-terminated once anything was put; may be NULL before */
	size_t length;
	size_t capacity;
};

void text_fini(struct text *text);
void text_put(struct text *text, const char *string);
void text_put_bytes(struct text *text, const char *bytes, size_t count);
/* Puts a number as a varint: seven bits a byte, the lowest ones first; the highest bit says that more follow. */
void text_put_varint(struct text *text, uint64_t value);
/* Puts a number, with zeros in front of it if it has fewer digits than that, at most 20. */
void text_put_decimal(struct text *text, uint64_t value, unsigned int digits_min);
void text_put_hexadecimal(struct text *text, uint64_t value, unsigned int digits_min);
void text_printf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Puts a string that a traced program chose: control characters and invalid UTF-8 become
 * \xNN, so that it can neither drive a terminal nor break a line. Valid UTF-8 stays.
 */
void text_put_escaped(struct text *text, const char *string);

/* Puts a JSON string with its quotes; invalid UTF-8 becomes U+FFFD, and what is escaped in text is \uNNNN. */
void text_put_json_string(struct text *text, const char *string);

/* Puts a name without what others differ in that are numbered: digits in a row are one star. */
void text_put_without_numbers(struct text *text, const char *name);

/*
 * Terminal columns that a UTF-8 string takes: two for a wide character, none for an accent, as the
 * locale has it; one for each character where the locale knows none of them.
 */
size_t text_columns(const char *string);

/* Bytes of the character that the string, not empty, begins with, and how many columns it takes. */
size_t text_next(const char *string, size_t *columns);

/* Puts a duration with three significant digits: "870 ns", "12.3 ms", "4.56 s", "3 min 5 s". */
void text_put_duration(struct text *text, uint64_t duration_ns);

/* Puts a size: "512 B", "1.5 KB", "31.2 MB" (powers of 1024). */
void text_put_size(struct text *text, uint64_t size_bytes);

/* Puts a count with thousands separated: "1,234,567". */
void text_put_count(struct text *text, uint64_t count);

/*
 * Reads "250us", "3ms", "1.5s", "2min", "1h" into nanoseconds, above 0 and below 2^63.
 * 0, or -EINVAL with *duration_ns untouched: a number without a unit is refused.
 */
int duration_parse(const char *string, uint64_t *duration_ns);

/* The same with "64K", "1.5G" or "20MB", in bytes: a K is 1024 of them. */
int size_parse(const char *string, uint64_t *size_bytes);

/* The same of a moment after another one, which may be that one: "0s". */
int moment_parse(const char *string, uint64_t *moment_ns);
