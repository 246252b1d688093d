/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "base/text.h"
#include "report/report_nameless.h"

TEST(only_a_module_with_an_offset_is_a_place)
{
	CHECK_EQUAL(report_nameless_length("libcrypto.so.3+0x31e140"), strlen("libcrypto.so.3"));
	CHECK_EQUAL(report_nameless_length("libstdc++.so.6+0x9"), strlen("libstdc++.so.6"));
	CHECK_EQUAL(report_nameless_length("[jit]+0x7f00"), strlen("[jit]"));
	CHECK_EQUAL(report_nameless_length("operator+"), 0);
	CHECK_EQUAL(report_nameless_length("f(int)+0x"), 0);
	CHECK_EQUAL(report_nameless_length("f+0x12 [clone]"), 0);
	CHECK_EQUAL(report_nameless_length("main"), 0);
	CHECK_EQUAL(report_nameless_length(""), 0);
}

static bool is_put(const char *module, const char *expected)
{
	struct text text = { 0 };
	bool is_same;

	report_put_nameless(&text, module);
	is_same = !strcmp(text.bytes, expected);
	text_fini(&text);
	return is_same;
}

TEST(a_sentence_says_whose_code_has_no_name)
{
	CHECK(is_put("libcrypto.so.3", "code of libcrypto.so.3 without symbols"));
	CHECK(is_put("[jit]", "generated code without names"));
	CHECK(is_put("[anon]", "code outside any file"));
	CHECK(is_put(NULL, "code outside any file"));
}
