/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "rows/event_line.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "session/event_kinds.h"

enum { DECIMAL_MAX = 65535 }; /* larger u64 are addresses and the like more often than counts */

/* How both forms differ; lists look the same in them. */
struct form {
	void (*put_number)(struct text *out, const struct event_field *field, uint64_t number);
	void (*put_string)(struct text *out, const char *string);
	void (*put_size)(struct text *out, size_t size_bytes); /* of what is neither */
};

static void put_decimal(struct text *out, const struct event_field *field, uint64_t number)
{
	bool is_negative = field->kind == FIELD_SIGNED && (int64_t)number < 0;

	if (is_negative)
		text_put(out, "-");
	text_put_decimal(out, is_negative ? -number : number, 1);
}

static void put_number(struct text *out, const struct event_field *field, uint64_t number)
{
	if (field->kind == FIELD_UNSIGNED && field->width_bytes == sizeof(number) &&
	    (field->is_flexible || number > DECIMAL_MAX)) {
		text_put(out, "0x");
		text_put_hexadecimal(out, number, 1);
	} else {
		put_decimal(out, field, number);
	}
}

void event_line_put_string(struct text *out, const char *string)
{
	struct text marked = { 0 };

	text_put(&marked, "");
	for (; *string; string++) {
		if (*string == '"' || *string == '\\')
			text_put(&marked, "\\");
		text_put_bytes(&marked, string, 1);
	}
	text_put(out, "\"");
	text_put_escaped(out, marked.bytes);
	text_put(out, "\"");
	text_fini(&marked);
}

/* In one word. */
static void put_log_string(struct text *out, const char *string)
{
	struct text quoted = { 0 };

	event_line_put_string(&quoted, string);
	for (const char *byte = quoted.bytes; *byte; byte++)
		if (*byte == ' ')
			text_put(out, "\\x20");
		else
			text_put_bytes(out, byte, 1);
	text_fini(&quoted);
}

static void put_size(struct text *out, size_t size_bytes)
{
	text_printf(out, "<%zu bytes>", size_bytes);
}

static void put_log_size(struct text *out, size_t size_bytes)
{
	text_printf(out, "<%zu>", size_bytes);
}

static void put_json_size(struct text *out, size_t size_bytes)
{
	text_printf(out, "{\"size_bytes\": %zu}", size_bytes);
}

static const struct form text_form = { put_number, event_line_put_string, put_size };
static const struct form log_form = { put_decimal, put_log_string, put_log_size };
static const struct form json_form = { put_decimal, text_put_json_string, put_json_size };

/* The bytes up to a NUL or the end. Returns where what follows them begins. */
static const char *put_string_at(struct text *out, const struct form *form, const char *at, const char *end)
{
	size_t length = strnlen(at, end - at);
	struct text string = { 0 };

	text_put_bytes(&string, at, length);
	form->put_string(out, string.bytes);
	text_fini(&string);
	return at + length < end ? at + length + 1 : end;
}

static void put_strings(struct text *out, const struct form *form, const char *at, const char *end)
{
	text_put(out, "[");
	while (at < end) {
		at = put_string_at(out, form, at, end);
		text_put(out, at < end ? "," : "");
	}
	text_put(out, "]");
}

static void put_numbers(struct text *out, const struct form *form, const struct event_field *field, const char *at,
			const char *end)
{
	text_put(out, "[");
	for (; at < end; at += field->width_bytes) {
		form->put_number(out, field, event_field_number(field, at));
		text_put(out, at + field->width_bytes < end ? "," : "");
	}
	text_put(out, "]");
}

/* Strings with a NUL after each. None is empty: numbers that look like strings have zeros, too. */
static bool is_text(const char *at, const char *end)
{
	char before = '\0';

	for (; at < end; before = *at++)
		if (*at ? (unsigned char)*at < ' ' || *at == 0x7f : !before)
			return false;
	return !before;
}

static void put_value(struct text *out, const struct form *form, const struct event_field *field, const char *at,
		      size_t size_bytes)
{
	const char *end = at + size_bytes;
	bool is_raw = field->is_flexible && field->width_bytes == 1 && field->kind != FIELD_CHAR;

	if (field->kind == FIELD_CHAR && !field->is_flexible)
		put_string_at(out, form, at, end);
	else if (field->kind == FIELD_CHAR || (is_raw && is_text(at, end)))
		put_strings(out, form, at, end);
	else if (is_raw)
		form->put_size(out, size_bytes);
	else if (field->count || field->is_flexible)
		put_numbers(out, form, field, at, end);
	else
		form->put_number(out, field, event_field_number(field, at));
}

static void put_time(struct text *out, const struct event_line *line)
{
	uint64_t time_ns = line->header->time_ns;
	bool is_before = time_ns < line->first_ns;
	uint64_t ns = is_before ? line->first_ns - time_ns : time_ns - line->first_ns;

	if (is_before)
		text_put(out, "-");
	text_put_decimal(out, ns / 1000000000, 1);
	text_put(out, ".");
	text_put_decimal(out, ns % 1000000000, 9);
}

static void put_name(struct text *out, const struct event_kind *kind)
{
	text_put(out, kind->subsys);
	text_put(out, ".");
	text_put(out, kind->event);
}

/* lead: what stands before the first one. */
static void put_fields(struct text *out, const struct event_line *line, const char *lead)
{
	struct event_fields fields = event_fields_of(line->kind, line->header, line->size_bytes);
	const struct event_field *field;
	const void *bytes;
	size_t size_bytes;

	if (line->argument) {
		text_put(out, lead);
		text_put(out, "argument=");
		text_put_decimal(out, *line->argument, 1);
		lead = " ";
	}
	while (event_fields_next(&fields, &field, &bytes, &size_bytes)) {
		text_put(out, lead);
		text_put(out, field->name);
		text_put(out, "=");
		put_value(out, &text_form, field, bytes, size_bytes);
		lead = " ";
	}
}

void event_line_put_fields(struct text *out, const struct event_line *line)
{
	put_fields(out, line, "");
}

void event_line_put(struct text *out, const struct event_line *line)
{
	put_time(out, line);
	text_put(out, " ");
	text_put_decimal(out, line->header->thread, 1);
	text_put(out, " ");
	put_name(out, line->kind);
	put_fields(out, line, " ");
	text_put(out, "\n");
}

void event_line_put_log(struct text *out, const struct event_line *line)
{
	struct event_fields fields = event_fields_of(line->kind, line->header, line->size_bytes);
	const struct event_field *field;
	const void *bytes;
	size_t size_bytes;

	if (line->cpu < 0)
		text_put(out, "-");
	else
		text_printf(out, "%" PRId32, line->cpu);
	text_put(out, " ");
	put_time(out, line);
	text_printf(out, " %s.%s", line->kind->subsys, line->kind->event);
	if (line->argument)
		text_printf(out, " %" PRIu32, *line->argument);
	while (event_fields_next(&fields, &field, &bytes, &size_bytes)) {
		text_put(out, " ");
		put_value(out, &log_form, field, bytes, size_bytes);
	}
	text_put(out, "\n");
}

void event_line_put_json(struct text *out, const struct event_line *line)
{
	struct event_fields fields = event_fields_of(line->kind, line->header, line->size_bytes);
	const char *separator = "\"";
	const struct event_field *field;
	const void *bytes;
	size_t size_bytes;

	text_printf(out, "{\"time_ns\": %" PRIu64 ", \"thread\": %" PRIu32 ", \"event\": \"%s.%s\"",
		    (uint64_t)line->header->time_ns, line->header->thread, line->kind->subsys, line->kind->event);
	if (line->argument)
		text_printf(out, ", \"argument\": %" PRIu32, *line->argument);
	text_put(out, ", \"fields\": {");
	while (event_fields_next(&fields, &field, &bytes, &size_bytes)) {
		text_put(out, separator);
		text_put(out, field->name);
		text_put(out, "\": ");
		put_value(out, &json_form, field, bytes, size_bytes);
		separator = ", \"";
	}
	text_put(out, "}}\n");
}
