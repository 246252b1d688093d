/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test program is one file that includes this and writes
 *
 *	TEST(a_sentence_that_can_be_false)
 *	{
 *		CHECK_EQUAL(1 + 1, 2);
 *	}
 *
 * Tests run in the order of the file, through cmocka; CMOCKA_MESSAGE_OUTPUT=TAP chooses TAP.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TESTS_MAX = 256 };

static struct CMUnitTest tests_registered[TESTS_MAX];
static size_t tests_registered_count;

static void test_register(const char *name, CMUnitTestFunction function)
{
	if (tests_registered_count == TESTS_MAX)
		abort();
	tests_registered[tests_registered_count++] = (struct CMUnitTest){ .name = name, .test_func = function };
}

#define TEST(name)                                                     \
	static void test_##name(void **state);                         \
	__attribute__((constructor)) static void register_##name(void) \
	{                                                              \
		test_register(#name, test_##name);                     \
	}                                                              \
	static void test_##name(void **state __attribute__((unused)))

/* A value as text, for the message of a check that fails. */
struct test_value {
	char text[64];
};

static inline struct test_value test_signed(long long number)
{
	struct test_value value;

	snprintf(value.text, sizeof(value.text), "%lld", number);
	return value;
}

static inline struct test_value test_unsigned(unsigned long long number)
{
	struct test_value value;

	snprintf(value.text, sizeof(value.text), number >> 16 ? "%llu (%#llx)" : "%llu", number, number);
	return value;
}

static inline struct test_value test_wide(unsigned __int128 number)
{
	struct test_value value;

	snprintf(value.text, sizeof(value.text), "%#llx << 64 | %#llx", (unsigned long long)(number >> 64),
		 (unsigned long long)number);
	return value;
}

static inline struct test_value test_real(double number)
{
	struct test_value value;

	snprintf(value.text, sizeof(value.text), "%.17g", number);
	return value;
}

static inline struct test_value test_pointer(const volatile void *pointer)
{
	struct test_value value;

	snprintf(value.text, sizeof(value.text), "%p", (const void *)pointer);
	return value;
}

/* clang-format off */
#define TEST_VALUE(value)                                                       \
	_Generic((value),                                                       \
		 int: test_signed, long: test_signed, long long: test_signed,   \
		 unsigned int: test_unsigned, unsigned long: test_unsigned,     \
		 unsigned long long: test_unsigned,                             \
		 __int128: test_wide, unsigned __int128: test_wide,             \
		 float: test_real, double: test_real,                           \
		 default: test_pointer)(value).text
/* clang-format on */

/* Only the library's own assertions put their words among the lines of TAP. */
__attribute__((format(printf, 3, 4))) static inline void test_fail(const char *file, int line, const char *format, ...)
{
	char message[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	_assert_true(0, message, file, line);
}

/* A literal beside an unsigned number is no mistake, but the compiler sees a variable of it. */
#pragma GCC diagnostic ignored "-Wsign-compare"

#define CHECK(condition) assert_true(condition)

/* Two numbers or pointers, compared as C does. Each is evaluated once, and promoted: no bit field, nothing below int. */
#define CHECK_THAT(left, operator, right)                                                              \
	do {                                                                                           \
		__typeof__(1 ? (left) : (left)) left_ = (left);                                        \
		__typeof__(1 ? (right) : (right)) right_ = (right);                                    \
		if (!(left_ operator right_))                                                          \
			test_fail(__FILE__, __LINE__, "%s %s %s: %s and %s", #left, #operator, #right, \
				  TEST_VALUE(left_), TEST_VALUE(right_));                              \
	} while (0)

#define CHECK_EQUAL(left, right) CHECK_THAT(left, ==, right)

/* Two strings; NULL is equal to none. */
#define CHECK_STRING(left, right)                                                                   \
	do {                                                                                        \
		const char *left_ = (left), *right_ = (right);                                      \
		if (!left_ || !right_ || strcmp(left_, right_))                                     \
			test_fail(__FILE__, __LINE__, "%s == %s: \"%s\" and \"%s\"", #left, #right, \
				  left_ ? left_ : "(null)", right_ ? right_ : "(null)");            \
	} while (0)

int main(void)
{
	return _cmocka_run_group_tests(__BASE_FILE__, tests_registered, tests_registered_count, NULL, NULL);
}
