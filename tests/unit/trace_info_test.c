/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <stdbool.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "engine/trace_info.h"

/* Whether it is found, and is that; NULL: it must not be. */
static bool finds(const char *info, size_t size_bytes, const char *key, const char *expected)
{
	char *copy = malloc(size_bytes + 1); /* so that reading behind it shows */
	struct text out = { 0 };
	bool is_found, is_same;

	copy = realloc(memcpy(copy, info, size_bytes), size_bytes + !size_bytes);
	is_found = trace_info_find(copy, size_bytes, key, &out);
	is_same = is_found ? expected && !strcmp(out.bytes, expected) : !expected;
	text_fini(&out);
	free(copy);
	return is_same;
}

TEST(what_was_put_is_found)
{
	struct text info = { 0 };
	struct utsname system;

	uname(&system);
	trace_info_put(&info);
	CHECK(finds(info.bytes, info.length, "pinch", PINCH_VERSION));
	CHECK(finds(info.bytes, info.length, "kernel", system.release));
	CHECK(finds(info.bytes, info.length, "clock", "CLOCK_MONOTONIC"));
	CHECK(finds(info.bytes, info.length, "kern", NULL));
	text_fini(&info);
}

TEST(a_string_with_escapes_ends_at_its_quote)
{
	static const char info[] = "{\"a\":\"x\\\"\\\\\",\"b\":\"y\"}";

	CHECK(finds(info, strlen(info), "a", "x\\\"\\\\"));
	CHECK(finds(info, strlen(info), "b", "y"));
}

TEST(nothing_is_found_behind_what_is_cut_off)
{
	static const char info[] = "{\"a\":\"x\\n\",\"b\":\"y\\\\\"";

	for (size_t size_bytes = 0; size_bytes < strlen(info); size_bytes++)
		CHECK(finds(info, size_bytes, "b", NULL));
	CHECK(finds(info, strlen(info), "b", "y\\\\"));
}

TEST(nothing_is_found_behind_what_is_no_string)
{
	static const char info[] = "{\"a\":1,\"b\":\"y\"}";

	CHECK(finds(info, strlen(info), "a", NULL));
	CHECK(finds(info, strlen(info), "b", NULL));
}
