/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/terminal/mouse.h"

#include "tui/terminal/keys.h"

enum { BUTTON_FIRST = 0, WHEEL_UP = 64, WHEEL_DOWN = 65, NUMBER_MAX = 10000 };

/* Moves *at behind a number and the character that ends it. */
static bool take_number(const char **at, char end, uint32_t *number)
{
	const char *begin = *at;

	*number = 0;
	for (; **at >= '0' && **at <= '9' && *number < NUMBER_MAX; (*at)++)
		*number = *number * 10 + (uint32_t)(**at - '0');
	if (*at == begin || (end && **at != end))
		return false;
	*at += end != '\0';
	return true;
}

static uint32_t key_of_button(uint32_t button)
{
	switch (button) {
	case BUTTON_FIRST:
		return KEY_CODE_CLICK;
	case WHEEL_UP:
		return KEY_CODE_WHEEL_UP;
	case WHEEL_DOWN:
		return KEY_CODE_WHEEL_DOWN;
	}
	return KEY_CODE_OTHER;
}

uint32_t mouse_key(const char *report, struct mouse_place *place)
{
	uint32_t button, column, line, key;

	if (!take_number(&report, ';', &button) || !take_number(&report, ';', &column) ||
	    !take_number(&report, '\0', &line) || *report != 'M' || report[1] || !column || !line)
		return KEY_CODE_OTHER;
	key = key_of_button(button);
	if (key != KEY_CODE_OTHER)
		*place = (struct mouse_place){ column - 1, line - 1 };
	return key;
}
