/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void json_init(struct json *json, struct text *out)
{
	*json = (struct json){ .out = out };
}

void json_fini(struct json *json)
{
	assert(!json->depth && json->has_members[0]);
	text_put(json->out, "\n");
}

void json_on_one_line(struct json *json)
{
	json->is_next_on_one_line = true;
}

static void put_line_break(struct json *json)
{
	text_put(json->out, "\n");
	for (uint32_t i = 0; i < json->depth; i++)
		text_put(json->out, "  ");
}

/* What stands between the members of a container, and before the first one. */
static void put_separator(struct json *json)
{
	if (json->has_members[json->depth])
		text_put(json->out, ",");
	if (!json->line_depth)
		put_line_break(json);
	else if (json->has_members[json->depth])
		text_put(json->out, " ");
	json->has_members[json->depth] = true;
}

static void begin_value(struct json *json)
{
	if (!json->depth) {
		assert(!json->has_members[0]);
		json->has_members[0] = true;
	} else if (json->is_object[json->depth]) {
		assert(json->has_key);
		json->has_key = false;
	} else {
		put_separator(json);
	}
}

static void begin_container(struct json *json, bool is_object)
{
	begin_value(json);
	assert(json->depth < JSON_DEPTH_MAX);
	json->depth++;
	json->is_object[json->depth] = is_object;
	json->has_members[json->depth] = false;
	if (json->is_next_on_one_line && !json->line_depth)
		json->line_depth = json->depth;
	json->is_next_on_one_line = false;
	text_put(json->out, is_object ? "{" : "[");
}

static void end_container(struct json *json, bool is_object)
{
	bool is_empty = !json->has_members[json->depth];

	assert(json->depth && json->is_object[json->depth] == is_object && !json->has_key);
	json->depth--;
	if (!json->line_depth && !is_empty)
		put_line_break(json);
	if (json->line_depth > json->depth)
		json->line_depth = 0;
	text_put(json->out, is_object ? "}" : "]");
}

void json_begin_object(struct json *json)
{
	begin_container(json, true);
}

void json_end_object(struct json *json)
{
	end_container(json, true);
}

void json_begin_array(struct json *json)
{
	begin_container(json, false);
}

void json_end_array(struct json *json)
{
	end_container(json, false);
}

void json_key(struct json *json, const char *key)
{
	assert(json->depth && json->is_object[json->depth] && !json->has_key);
	put_separator(json);
	text_put_json_string(json->out, key);
	text_put(json->out, ": ");
	json->has_key = true;
}

void json_string(struct json *json, const char *string)
{
	if (!string) {
		json_null(json);
		return;
	}
	begin_value(json);
	text_put_json_string(json->out, string);
}

void json_uint(struct json *json, uint64_t value)
{
	begin_value(json);
	text_printf(json->out, "%" PRIu64, value);
}

void json_int(struct json *json, int64_t value)
{
	begin_value(json);
	text_printf(json->out, "%" PRId64, value);
}

void json_double(struct json *json, double value)
{
	char digits[40], *comma;

	if (!isfinite(value)) {
		json_null(json);
		return;
	}
	begin_value(json);
	snprintf(digits, sizeof(digits), "%.9g", value);
	/* A library may have called setlocale(): JSON knows the point only. */
	comma = strchr(digits, ',');
	if (comma)
		*comma = '.';
	text_put(json->out, digits);
}

void json_bool(struct json *json, bool value)
{
	begin_value(json);
	text_put(json->out, value ? "true" : "false");
}

void json_null(struct json *json)
{
	begin_value(json);
	text_put(json->out, "null");
}
