/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A test program is one file that includes this and writes
 *
 *	TEST(a_sentence_that_can_be_false)
 *	{
 *		CHECK(1 + 1 == 2);
 *	}
 *
 * Tests run in the order of the file, through cmocka; CMOCKA_MESSAGE_OUTPUT=TAP chooses TAP.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

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

#define CHECK(condition) assert_true(condition)

int main(void)
{
	return _cmocka_run_group_tests(__BASE_FILE__, tests_registered, tests_registered_count, NULL, NULL);
}
