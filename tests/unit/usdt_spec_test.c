/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --usdt is given: what it means, and what is wrong with it. */
#include "test.h"

#include <errno.h>

#include "base/text.h"
#include "collect/probe/usdt_spec.h"

static struct usdt_specs specs;

static void good(const char *argument, const char *file, const char *pattern)
{
	const struct usdt_spec *spec = &specs.list[specs.count];
	struct text why = { 0 };

	CHECK(!usdt_specs_add(&specs, argument, &why) && !why.length);
	CHECK_STRING(spec->text, argument);
	CHECK_STRING(spec->pattern, pattern);
	CHECK(!spec->file == !file);
	if (file)
		CHECK_STRING(spec->file, file);
}

static void bad(const char *argument, const char *about)
{
	size_t count = specs.count;
	struct text why = { 0 };

	CHECK_EQUAL(usdt_specs_add(&specs, argument, &why), -EINVAL);
	CHECK_EQUAL(specs.count, count);
	CHECK(strstr(why.bytes, about));
	text_fini(&why);
}

TEST(a_file_may_stand_before_provider_and_probe)
{
	good("postgresql:query__*", NULL, "postgresql:query__*");
	good("*:?", NULL, "*:?");
	good("libx.so.1:a:b", "libx.so.1", "a:b");
	good("/opt/x y/bin/z:a_1:*", "/opt/x y/bin/z", "a_1:*");
	good("/odd:colon/z:a:b", "/odd:colon/z", "a:b");
	usdt_specs_fini(&specs);
}

TEST(what_is_no_pair_of_names_is_refused)
{
	static const char *const wrong[] = { "",         "a",     ":",     "a:",      ":b",   ":a:b", "a::b",
					     "/bin/x:a", "a:b c", "a:b-c", "x:a b:c", "a:b:", "a:[b]" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		bad(wrong[i], "PROVIDER:PROBE");
}

TEST(there_are_so_many_at_most)
{
	for (size_t i = 0; i < USDT_SPECS_MAX; i++)
		good("a:b", NULL, "a:b");
	bad("a:b", "at most 32");
	usdt_specs_fini(&specs);
}

TEST(no_text_is_read_past_its_end)
{
	static const char letters[] = "ab:*?/. _";
	uint32_t random = 1;

	for (unsigned int round = 0; round < 100000; round++) {
		char argument[16];
		struct text why = { 0 };
		size_t length = (random >> 8) % sizeof(argument);

		for (size_t i = 0; i < length; i++) {
			random = random * 1664525 + 1013904223;
			argument[i] = letters[(random >> 16) % (sizeof(letters) - 1)];
		}
		random = random * 1664525 + 1013904223;
		argument[length] = '\0';
		CHECK_THAT(!usdt_specs_add(&specs, argument, &why), !=, !!why.length);
		text_fini(&why);
		usdt_specs_fini(&specs);
	}
}
