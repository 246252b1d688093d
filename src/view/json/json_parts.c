/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "view/json/json_parts.h"

#include "base/json.h"
#include "report/report.h"

void json_put_uint(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	json_uint(json, value);
}

void json_put_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	json_double(json, value);
}

void json_put_string(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	json_bool(json, value);
}

void json_put_line_number(struct json *json, uint32_t line)
{
	json_key(json, "line");
	if (line)
		json_uint(json, line);
	else
		json_null(json);
}

static const char *const stack_ends[STACK_ENDS] = {
	[STACK_COMPLETE] = "complete",
	[STACK_TRUNCATED] = "truncated",
	[STACK_NO_TABLE] = "no_table",
	[STACK_UNREADABLE] = "unreadable",
};

static void put_frame(struct json *json, const struct report_frame *frame)
{
	json_on_one_line(json);
	json_begin_object(json);
	json_put_string(json, "function", frame->function);
	json_put_string(json, "file", frame->file);
	json_put_line_number(json, frame->line);
	json_put_string(json, "module", frame->module);
	json_put_uint(json, "offset", frame->offset);
	json_put_bool(json, "inlined", frame->is_inlined);
	json_put_bool(json, "kernel", frame->is_kernel);
	json_put_bool(json, "guessed", frame->is_guessed);
	json_end_object(json);
}

void json_put_stack(struct json *json, const struct report_frame *frames, size_t count)
{
	json_key(json, "stack");
	json_begin_array(json);
	for (size_t i = 0; i < count; i++)
		put_frame(json, &frames[i]);
	json_end_array(json);
}

void json_put_stack_end(struct json *json, enum stack_end end)
{
	json_put_string(json, "stack_end", stack_ends[end]);
}
