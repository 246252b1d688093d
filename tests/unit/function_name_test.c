/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which functions a name means, and where functions end. */
#include "test.h"

#include <string.h>

#include "symbol/elf/function_ends.h"
#include "symbol/elf/function_name.h"

TEST(a_name_is_without_parameters_and_results)
{
	CHECK(function_is_called("dispatch_command(enum_server_command, THD*)", "dispatch_command"));
	CHECK(function_is_called("main", "main"));
	CHECK(function_is_called("ns::Class::method(int) const", "ns::Class::method"));
	CHECK(function_is_called("void ns::f<int>(int)", "ns::f"));
	CHECK(function_is_called("std::vector<A, B<C> > ns::f<int>(int)", "ns::f"));
	CHECK(function_is_called("foo [clone .constprop.0]", "foo"));
	CHECK(function_is_called("(anonymous namespace)::f(int)", "(anonymous namespace)::f"));
	CHECK(function_is_called("mycrate::work::<u32>", "mycrate::work"));
	CHECK(function_is_called("A::operator()(int) const", "A::operator()"));
}

TEST(no_other_function_is_meant)
{
	CHECK(!function_is_called("dispatch_command_more(int)", "dispatch_command"));
	CHECK(!function_is_called("ns::dispatch_command(int)", "dispatch_command"));
	CHECK(!function_is_called("run(void f(int))", "f"));
	CHECK(!function_is_called("g<ns::f (int)>()", "ns::f"));
	CHECK(!function_is_called("foo(int) [clone .cold]", "foo"));
	CHECK(!function_is_called("foo [clone .part.0]", "foo"));
	CHECK(!function_is_called("foo", ""));
	CHECK(!function_is_called("", "foo"));
}

TEST(the_last_word_is_in_the_symbol)
{
	CHECK_STRING(function_last_word("ns::Class::method"), "method");
	CHECK_STRING(function_last_word("A::operator()"), "");
	CHECK_STRING(function_last_word("f"), "f");
}

static char seen[256];

static void on_end(void *data, uint64_t at, bool is_jump)
{
	(void)data;
	sprintf(seen + strlen(seen), "%s%u ", is_jump ? "jump " : "", (unsigned int)at);
}

static void check(const void *code, size_t size_bytes, const char *expected, bool is_code)
{
	seen[0] = '\0';
	CHECK_EQUAL(function_ends(code, size_bytes, 0x1000, on_end, NULL), is_code);
	CHECK_STRING(seen, expected);
}

#define CHECK_ENDS(code, expected) check(code, sizeof(code) - 1, expected, true)

TEST(a_function_ends_at_each_return)
{
	CHECK_ENDS("\x55\x85\xff\x74\x02\x5d\xc3\x5d\xc3", "6 8 "); /* push, test, je, pop, ret */
	CHECK_ENDS("\xf3\xc3\xc2\x08\x00", "0 2 ");                 /* rep ret; ret 8 */
	CHECK_ENDS("", "");
}

TEST(a_function_may_end_where_it_jumps_out_of_itself)
{
	CHECK_ENDS("\xeb\x00\xc3", "2 ");              /* jmp to the ret */
	CHECK_ENDS("\xe9\x00\x01\x00\x00", "jump 0 "); /* jmp far behind */
	CHECK_ENDS("\xff\x60\x10", "jump 0 ");         /* jmp *0x10(%rax) */
	CHECK_ENDS("\xff\xe0", "jump 0 ");             /* jmp *%rax */
}

TEST(the_jump_of_a_switch_is_no_end)
{
	CHECK_ENDS("\xff\x24\xc5\x00\x10\x00\x00\xc3", "7 ");         /* jmp *table(,%rax,8) */
	CHECK_ENDS("\x48\x63\x04\x82\x48\x01\xd0\xff\xe0\xc3", "9 "); /* movslq, add, jmp *%rax */
	CHECK_ENDS("\x3e\xff\xe0\xc3", "3 ");                         /* notrack jmp *%rax */
}

TEST(what_is_no_code_is_recorded)
{
	check("\xc3\x06\xc3", 3, "0 ", false);
}
