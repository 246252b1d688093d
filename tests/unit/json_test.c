/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "test.h"

/* Ends the document and compares it. */
static bool reads(struct json *json, const char *expected)
{
	bool is_same;

	json_fini(json);
	is_same = !strcmp(json->out->bytes, expected);
	text_fini(json->out);
	return is_same;
}

TEST(members_take_a_line_each)
{
	struct text text = { 0 };
	struct json json;

	json_init(&json, &text);
	json_begin_object(&json);
	json_key(&json, "a");
	json_uint(&json, 1);
	json_key(&json, "b");
	json_begin_array(&json);
	json_int(&json, -2);
	json_null(&json);
	json_end_array(&json);
	json_end_object(&json);
	CHECK(reads(&json, "{\n  \"a\": 1,\n  \"b\": [\n    -2,\n    null\n  ]\n}\n"));
}

TEST(empty_containers_stay_on_their_line)
{
	struct text text = { 0 };
	struct json json;

	json_init(&json, &text);
	json_begin_array(&json);
	json_begin_object(&json);
	json_end_object(&json);
	json_begin_array(&json);
	json_end_array(&json);
	json_end_array(&json);
	CHECK(reads(&json, "[\n  {},\n  []\n]\n"));
}

TEST(one_line_holds_the_container_and_all_in_it_and_ends_with_it)
{
	struct text text = { 0 };
	struct json json;

	json_init(&json, &text);
	json_begin_array(&json);
	json_on_one_line(&json);
	json_begin_object(&json);
	json_key(&json, "a");
	json_begin_array(&json);
	json_bool(&json, true);
	json_bool(&json, false);
	json_end_array(&json);
	json_end_object(&json);
	json_begin_array(&json);
	json_uint(&json, 1);
	json_end_array(&json);
	json_end_array(&json);
	CHECK(reads(&json, "[\n  {\"a\": [true, false]},\n  [\n    1\n  ]\n]\n"));
}

TEST(the_largest_numbers_are_written_exactly)
{
	struct text text = { 0 };
	struct json json;

	json_init(&json, &text);
	json_on_one_line(&json);
	json_begin_array(&json);
	json_uint(&json, UINT64_MAX);
	json_int(&json, INT64_MIN);
	json_end_array(&json);
	CHECK(reads(&json, "[18446744073709551615, -9223372036854775808]\n"));
}

TEST(what_is_no_number_becomes_null)
{
	struct text text = { 0 };
	struct json json;

	json_init(&json, &text);
	json_on_one_line(&json);
	json_begin_array(&json);
	json_double(&json, NAN);
	json_double(&json, -INFINITY);
	json_double(&json, 0.1);
	json_double(&json, 1e300);
	json_string(&json, NULL);
	json_end_array(&json);
	CHECK(reads(&json, "[null, null, 0.1, 1e+300, null]\n"));
}

TEST(strings_are_escaped)
{
	struct text text = { 0 };
	struct json json;

	json_init(&json, &text);
	json_string(&json, "a\"\\\n\xff\x01");
	CHECK(reads(&json, "\"a\\\"\\\\\\u000a\\ufffd\\u0001\"\n"));
}
