/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "test.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/mouse.h"

TEST(a_press_and_the_wheel_are_keys_with_a_place_that_counts_from_0)
{
	struct mouse_place place = { 0 };

	CHECK_EQUAL(mouse_key("0;21;2M", &place), KEY_CODE_CLICK);
	CHECK_EQUAL(place.column, 20);
	CHECK_EQUAL(place.line, 1);
	CHECK_EQUAL(mouse_key("64;1;1M", &place), KEY_CODE_WHEEL_UP);
	CHECK_EQUAL(place.column, 0);
	CHECK_EQUAL(mouse_key("65;500;300M", &place), KEY_CODE_WHEEL_DOWN);
	CHECK_EQUAL(place.line, 299);
}

TEST(all_else_is_a_key_that_does_nothing_and_leaves_the_place)
{
	static const char *const others[] = {
		"0;21;2m",
		"2;21;2M",
		"32;21;2M",
		"",
		"M",
		"0M",
		"0;1M",
		"0;1;M",
		";;M",
		"0;0;1M",
		"0;1;0M",
		"0;1;1MM",
		"0;1;1",
		"-1;1;1M",
		"0; 1;1M",
		"99999999999999999999;1;1M",
		"0;99999999999;1M",
		"0;1;1;1M",
	};
	struct mouse_place place = { 7, 7 };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		CHECK_EQUAL(mouse_key(others[i], &place), KEY_CODE_OTHER);
	CHECK_EQUAL(place.column, 7);
	CHECK_EQUAL(place.line, 7);
}
