/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes JSON as it goes: no tree is built. The caller owns the struct and the text it
 * writes to; misuse (a value without its key, a container left open) is an assertion.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct text;

enum { JSON_DEPTH_MAX = 16 };

struct json {
	struct text *out;
	uint32_t depth;
	uint32_t line_depth; /* of a container on one line; 0: none */
	bool is_object[JSON_DEPTH_MAX + 1], has_members[JSON_DEPTH_MAX + 1];
	bool has_key, is_next_on_one_line;
};

void json_init(struct json *json, struct text *out);

/* Ends the text with a newline; all containers are closed and there was one value. */
void json_fini(struct json *json);

/* The container that begins next goes on one line with all that is in it. */
void json_on_one_line(struct json *json);

void json_begin_object(struct json *json);
void json_end_object(struct json *json);
void json_begin_array(struct json *json);
void json_end_array(struct json *json);

/* The name of the object's member that comes next. */
void json_key(struct json *json, const char *key);

/* NULL is null; invalid UTF-8 becomes U+FFFD. */
void json_string(struct json *json, const char *string);
void json_uint(struct json *json, uint64_t value);
void json_int(struct json *json, int64_t value);

/* Nine significant digits; JSON has no infinities and no NaN: they become null. */
void json_double(struct json *json, double value);
void json_bool(struct json *json, bool value);
void json_null(struct json *json);
