/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"

#include <string.h>

#include "symbol/elf/demangle.h"

static void check(const char *symbol, const char *expected)
{
	char name[128];

	demangle(symbol, name, sizeof(name));
	CHECK_STRING(name, expected);
}

TEST(cpp_names_have_their_classes_and_parameters)
{
	check("_ZN2ns5Class6methodEi", "ns::Class::method(int)");
	check("_ZNK2ns5TableIiE4findEPKc", "ns::Table<int>::find(char const*) const");
	check("_Z3foov.cold", "foo() [clone .cold]");
	check("_Z3fooi.constprop.0.isra.0", "foo(int) [clone .constprop.0] [clone .isra.0]");
	check("_ZN5Index9normaliseB5cxx11Ev", "Index::normalise()");
	check("_Z1fB1aB1b1gB1ci", "f(g, int)");
	check("_GLOBAL__sub_I_main", "_GLOBAL__sub_I_main");
}

TEST(rust_names_lose_their_hash)
{
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad");
	check("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE.llvm.12345", "core::fmt::Formatter::pad");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
}

TEST(c_names_stay_but_for_what_the_compiler_appended)
{
	check("main", "main");
	check("", "");
	check("memcpy.part.0", "memcpy [clone .part.0]");
	check("work.constprop.0.cold", "work [clone .constprop.0] [clone .cold]");
	check("go.runtime.main", "go.runtime.main");
	check("_Zgarbage", "_Zgarbage");
	check("_Z", "_Z");
}

TEST(too_long_a_name_ends_in_dots)
{
	char symbol[20000], name[64];

	memset(symbol, 'a', sizeof(symbol) - 1);
	symbol[sizeof(symbol) - 1] = '\0';
	demangle(symbol, name, sizeof(name));
	CHECK_EQUAL(strlen(name), sizeof(name) - 1);
	CHECK_STRING(name + sizeof(name) - 4, "...");
	symbol[300] = '\0';
	memcpy(symbol, "_Z297", 5); /* a valid name of 297 letters without parameters */
	demangle(symbol, name, sizeof(name));
	CHECK_EQUAL(strlen(name), sizeof(name) - 1);
	CHECK_STRING(name + sizeof(name) - 4, "...");
}
