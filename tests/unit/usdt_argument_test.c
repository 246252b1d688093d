/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a note says that arguments of a USDT probe are. */
#include "test.h"

#include <string.h>

#include "symbol/elf/usdt_argument.h"

enum { AX = 10, BX = 5, BP = 4, SP = 19, R13 = 2, NONE = USDT_NO_REGISTER };

static struct usdt_argument list[USDT_ARGUMENTS_MAX];

static const struct usdt_argument *only(const char *text)
{
	CHECK_EQUAL(usdt_arguments_parse(text, list), 1);
	CHECK(usdt_argument_is_valid(list));
	return list;
}

static void check_register(const char *text, unsigned int size_bytes, bool is_signed, unsigned int word,
			   unsigned int shift_bits)
{
	const struct usdt_argument *argument = only(text);

	CHECK_EQUAL(argument->kind, USDT_REGISTER);
	CHECK_EQUAL(argument->size_bytes, size_bytes);
	CHECK_EQUAL(argument->is_signed, is_signed);
	CHECK_EQUAL(argument->base, word);
	CHECK_EQUAL(argument->shift_bits, shift_bits);
}

static void check_memory(const char *text, unsigned int base, unsigned int index, unsigned int scale_shift,
			 int64_t number)
{
	const struct usdt_argument *argument = only(text);

	CHECK_EQUAL(argument->kind, USDT_MEMORY);
	CHECK_EQUAL(argument->base, base);
	CHECK_EQUAL(argument->index, index);
	CHECK_EQUAL(argument->scale_shift, scale_shift);
	CHECK_EQUAL(argument->number, number);
}

TEST(registers_have_their_size_and_sign)
{
	check_register("8@%rax", 8, false, AX, 0);
	check_register("-4@%eax", 4, true, AX, 0);
	check_register("2@%ax", 2, false, AX, 0);
	check_register("-1@%al", 1, true, AX, 0);
	check_register("1@%ah", 1, false, AX, 8);
	check_register("1@%bpl", 1, false, BP, 0);
	check_register("-4@%r13d", 4, true, R13, 0);
	check_register("-4@%rbx", 4, true, BX, 0);
}

TEST(constants_are_numbers)
{
	CHECK_EQUAL(only("-4@$-7")->number, -7);
	CHECK_EQUAL(list->kind, USDT_CONSTANT);
	CHECK_EQUAL(only("8@$0x10")->number, 16);
	CHECK_EQUAL(only("8@$18446744073709551615")->number, -1);
	CHECK_EQUAL(only("8@$-9223372036854775808")->number, INT64_MIN);
}

TEST(memory_is_at_registers_and_a_distance)
{
	check_memory("-4@-20(%rbp)", BP, NONE, 0, -20);
	check_memory("8@(%rsp)", SP, NONE, 0, 0);
	check_memory("8@16(%rsp,%rax,8)", SP, AX, 3, 16);
	check_memory("8@(%rsp,%rax)", SP, AX, 0, 0);
	check_memory("4@64(,%rbx,4)", NONE, BX, 2, 64);
}

TEST(what_has_another_form_is_unreadable_and_keeps_its_place)
{
	static const char *const unreadable[] = {
		"8f@%xmm0",
		"4@counter(%rip)",
		"4@counter",
		"8@%fs:16",
		"8@%st(0)",
		"%rax",
		"4@",
		"@%rax",
		"3@%rax",
		"16@%rax",
		"4@%raxx",
		"4@%",
		"4@$",
		"4@8(%eax)",
		"4@8(%rax",
		"4@8(%rax,3)",
		"4@(%rax)x",
		"4@(%rax,%rbx,3)",
		"4@(%rax,%rbx,)",
		"4@8",
		"4@8(%xmm0)",
		"4@()",
		"4@(,)",
		"0@%rax",
		"99999999999@%rax",
		"4@$9999999999999999999999",
		"-@%rax",
		"--4@%rax",
		"4@$$4",
	};

	for (size_t i = 0; i < sizeof(unreadable) / sizeof(*unreadable); i++) {
		char text[128];

		snprintf(text, sizeof(text), "%s -4@%%eax", unreadable[i]);
		if (usdt_arguments_parse(text, list) != 2 || list[0].kind != USDT_UNREADABLE)
			print_message("%s\n", unreadable[i]);
		CHECK_EQUAL(usdt_arguments_parse(text, list), 2);
		CHECK_EQUAL(list[0].kind, USDT_UNREADABLE);
		CHECK_EQUAL(list[1].kind, USDT_REGISTER);
	}
}

TEST(there_are_as_many_as_words_but_twelve)
{
	CHECK_EQUAL(usdt_arguments_parse("", list), 0);
	CHECK_EQUAL(usdt_arguments_parse("  ", list), 0);
	CHECK_EQUAL(usdt_arguments_parse(" 8@%rax  8@%rbx ", list), 2);
	CHECK_EQUAL(usdt_arguments_parse("1@$1 1@$2 1@$3 1@$4 1@$5 1@$6 1@$7 1@$8 1@$9 1@$10 1@$11 1@$12 1@$13", list),
		    12);
	CHECK_EQUAL(list[11].number, 12);
}

TEST(names_are_of_letters_digits_and_underscores)
{
	CHECK(usdt_name_is_valid("query__start", 64));
	CHECK(!usdt_name_is_valid("", 64));
	CHECK(!usdt_name_is_valid("a\"b", 64));
	CHECK(!usdt_name_is_valid("abcd", 4));
}

TEST(an_argument_from_elsewhere_is_in_range)
{
	struct usdt_argument good = *only("8@16(%rsp,%rax,8)"), bad;

	CHECK(usdt_argument_is_valid(&good));
	bad = good;
	bad.base = USDT_REGISTERS;
	CHECK(!usdt_argument_is_valid(&bad));
	bad = good;
	bad.scale_shift = 4;
	CHECK(!usdt_argument_is_valid(&bad));
	bad = good;
	bad.size_bytes = 3;
	CHECK(!usdt_argument_is_valid(&bad));
	bad = good;
	bad.kind = USDT_ARGUMENT_KINDS;
	CHECK(!usdt_argument_is_valid(&bad));
}
