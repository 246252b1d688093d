/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include "base/text.h"

static char shown[4096];

/* What one call puts into an empty text. */
#define PUTS(call)                                                                  \
	({                                                                          \
		struct text text = { 0 };                                           \
		call;                                                               \
		snprintf(shown, sizeof(shown), "%s", text.bytes ? text.bytes : ""); \
		text_fini(&text);                                                   \
		shown;                                                              \
	})

static const char *duration(uint64_t ns)
{
	return PUTS(text_put_duration(&text, ns));
}

static const char *escaped(const char *string)
{
	return PUTS(text_put_escaped(&text, string));
}

static const char *json(const char *string)
{
	return PUTS(text_put_json_string(&text, string));
}

static const char *size(uint64_t bytes)
{
	return PUTS(text_put_size(&text, bytes));
}

static const char *count(uint64_t value)
{
	return PUTS(text_put_count(&text, value));
}

TEST(digits_are_those_of_printf)
{
	static const uint64_t values[] = { 0, 1, 9, 10, 15, 16, 65536, 999999999, 1000000000, UINT64_MAX };
	struct text digits = { 0 }, printed = { 0 };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		text_put_decimal(&digits, values[i], 9);
		text_put_decimal(&digits, values[i], 1);
		text_put_hexadecimal(&digits, values[i], 1);
		text_printf(&printed, "%09llu%llu%llx", (unsigned long long)values[i], (unsigned long long)values[i],
			    (unsigned long long)values[i]);
	}
	CHECK_STRING(digits.bytes, printed.bytes);
	text_fini(&digits);
	text_fini(&printed);
}

TEST(pieces_are_put_one_after_another)
{
	struct text text = { 0 };

	for (int i = 0; i < 1000; i++)
		text_printf(&text, "%d,", i % 10);
	text_put(&text, "end");
	CHECK_EQUAL(text.length, 2003);
	CHECK_EQUAL(strlen(text.bytes), 2003);
	CHECK_STRING(text.bytes + 1998, "9,end");
	text_fini(&text);
	CHECK(!text.bytes && !text.length);
}

TEST(nothing_put_is_safe_to_free)
{
	struct text text = { 0 };

	text_fini(&text);
	text_put_bytes(&text, "", 0);
	CHECK_EQUAL(text.length, 0);
	CHECK(!*text.bytes);
	text_fini(&text);
}

TEST(what_drives_a_terminal_is_escaped)
{
	CHECK_STRING(escaped("plain"), "plain");
	CHECK_STRING(escaped("\033[2Jx\n"), "\\x1b[2Jx\\x0a");
	CHECK_STRING(escaped("\x7f"), "\\x7f");
	CHECK_STRING(escaped("\xc2\x9b"), "\\xc2\\x9b"); /* CSI of 8 bits */
	CHECK_STRING(escaped("na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80"),
		     "na\xc3\xafve \xe2\x82\xac \xf0\x9f\x98\x80");
}

TEST(invalid_utf8_is_escaped_byte_by_byte)
{
	CHECK_STRING(escaped("a\xff"
			     "b"),
		     "a\\xffb");
	CHECK_STRING(escaped("\xc3"), "\\xc3"); /* cut off */
	CHECK_STRING(escaped("\xe2\x82"), "\\xe2\\x82");
	CHECK_STRING(escaped("\xc0\xaf"), "\\xc0\\xaf");          /* overlong */
	CHECK_STRING(escaped("\xed\xa0\x80"), "\\xed\\xa0\\x80"); /* surrogate */
	CHECK_STRING(escaped("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(json_strings_are_quoted_and_valid)
{
	CHECK_STRING(json("a\"b\\c"), "\"a\\\"b\\\\c\"");
	CHECK_STRING(json("\n\x01"), "\"\\u000a\\u0001\"");
	CHECK_STRING(json("\xff"), "\"\\ufffd\"");
	CHECK_STRING(json("\xc2\x85"), "\"\\u0085\"");
	CHECK_STRING(json("\xe2\x80\xae\xe2\x81\xa9"), "\"\\u202e\\u2069\"");
	CHECK_STRING(json("\xe2\x82\xac"), "\"\xe2\x82\xac\"");
}

TEST(columns_are_characters)
{
	CHECK_EQUAL(text_columns(""), 0);
	CHECK_EQUAL(text_columns("abc"), 3);
	CHECK_EQUAL(text_columns("\xe2\x82\xac"
				 "1"),
		    2);
}

TEST(a_wide_character_takes_two_columns_and_an_accent_none_where_the_locale_knows_them)
{
	static const char wide[] = "\xe6\x97\xa5\xe6\x9c\xac", accent[] = "e\xcc\x81";

	CHECK_EQUAL(text_columns(wide), 2);
	CHECK_EQUAL(text_columns(accent), 2);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	CHECK_EQUAL(text_columns(wide), 4);
	CHECK_EQUAL(text_columns(accent), 1);
	CHECK_EQUAL(text_columns("\xff\x80"), 1);
	setlocale(LC_CTYPE, "C");
}

TEST(durations_have_three_digits)
{
	CHECK_STRING(duration(0), "0 ns");
	CHECK_STRING(duration(999), "999 ns");
	CHECK_STRING(duration(1000), "1.00 us");
	CHECK_STRING(duration(9994), "9.99 us");
	CHECK_STRING(duration(9996), "10.0 us");
	CHECK_STRING(duration(12340000), "12.3 ms");
	CHECK_STRING(duration(999400), "999 us");
	CHECK_STRING(duration(999600), "1.00 ms");
	CHECK_STRING(duration(4560000000), "4.56 s");
	CHECK_STRING(duration(185000000000), "3 min 5 s");
	CHECK_STRING(duration(3660000000000), "1 h 1 min");
	CHECK_THAT(strlen(duration(UINT64_MAX)), >, 0);
}

TEST(sizes_go_by_1024)
{
	CHECK_STRING(size(0), "0 B");
	CHECK_STRING(size(512), "512 B");
	CHECK_STRING(size(1536), "1.5 KB");
	CHECK_STRING(size(1048575), "1.0 MB");
	CHECK_STRING(size(32715571), "31.2 MB");
	CHECK_THAT(strlen(size(UINT64_MAX)), >, 0);
}

TEST(thousands_are_separated)
{
	CHECK_STRING(count(0), "0");
	CHECK_STRING(count(999), "999");
	CHECK_STRING(count(1000), "1,000");
	CHECK_STRING(count(1234567), "1,234,567");
	CHECK_STRING(count(UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(a_moment_may_be_the_first_one)
{
	uint64_t ns = 7;

	CHECK(!moment_parse("0s", &ns));
	CHECK_EQUAL(ns, 0);
	CHECK(!moment_parse("1.5s", &ns));
	CHECK_EQUAL(ns, 1500000000);
	CHECK_EQUAL(moment_parse("0", &ns), -EINVAL);
	CHECK_EQUAL(moment_parse("-1s", &ns), -EINVAL);
	CHECK_EQUAL(moment_parse("1e9d", &ns), -EINVAL);
	CHECK_EQUAL(moment_parse("200000d", &ns), -EINVAL);
	CHECK_EQUAL(ns, 1500000000);
}

TEST(durations_are_read_with_their_unit_only)
{
	uint64_t ns = 77;

	CHECK(!duration_parse("250us", &ns));
	CHECK_EQUAL(ns, 250000);
	CHECK(!duration_parse("1.5s", &ns));
	CHECK_EQUAL(ns, 1500000000);
	CHECK(!duration_parse("2min", &ns));
	CHECK_EQUAL(ns, 120000000000);
	CHECK(!duration_parse("1h", &ns));
	CHECK_EQUAL(ns, 3600000000000);
	CHECK(!duration_parse(".5ms", &ns));
	CHECK_EQUAL(ns, 500000);
	ns = 77;
	CHECK_EQUAL(duration_parse("3", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("ms", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("-1s", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("0s", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("1 s", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("1sx", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("inf", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("nans", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("0x10s", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("1e99s", &ns), -EINVAL);
	CHECK_EQUAL(duration_parse("9999999999h", &ns), -EINVAL);
	CHECK_EQUAL(ns, 77);
}

TEST(sizes_are_read_with_their_units_and_nothing_else)
{
	uint64_t bytes;

	CHECK(!size_parse("64K", &bytes));
	CHECK_EQUAL(bytes, 65536);
	CHECK(!size_parse("1.5GB", &bytes));
	CHECK_EQUAL(bytes, 3ull << 29);
	CHECK(!size_parse("20M", &bytes));
	CHECK_EQUAL(bytes, 20 << 20);
	bytes = 77;
	CHECK_EQUAL(size_parse("20", &bytes), -EINVAL);
	CHECK_EQUAL(size_parse("M", &bytes), -EINVAL);
	CHECK_EQUAL(size_parse("0M", &bytes), -EINVAL);
	CHECK_EQUAL(size_parse("-1M", &bytes), -EINVAL);
	CHECK_EQUAL(size_parse("1 M", &bytes), -EINVAL);
	CHECK_EQUAL(size_parse("1m", &bytes), -EINVAL);
	CHECK_EQUAL(size_parse("9999999999T", &bytes), -EINVAL);
	CHECK_EQUAL(bytes, 77);
}
