/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which key does what: the same table makes the help page.
 *
 * Owns: keys, lines and the terminal's abilities.
 * Used by: tui/rows, tui, live.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Beyond Unicode: keys that are no characters. */
enum {
	KEY_CODE_FIRST = 0x110000,
	KEY_CODE_UP = KEY_CODE_FIRST,
	KEY_CODE_DOWN,
	KEY_CODE_LEFT,
	KEY_CODE_RIGHT,
	KEY_CODE_PAGE_UP,
	KEY_CODE_PAGE_DOWN,
	KEY_CODE_HOME,
	KEY_CODE_END,
	KEY_CODE_BACKSPACE,
	KEY_CODE_BACK_TAB,
	KEY_CODE_OTHER,
	KEY_CODE_WHEEL_UP,
	KEY_CODE_WHEEL_DOWN,
	KEY_CODE_CLICK, /* the terminal says where */
	KEY_CODE_ENTER = '\n',
	KEY_CODE_TAB = '\t',
	KEY_CODE_ESCAPE = 27,
};

enum action {
	ACTION_NONE,
	ACTION_UP,
	ACTION_DOWN,
	ACTION_WHEEL_UP,
	ACTION_WHEEL_DOWN,
	ACTION_PAGE_UP,
	ACTION_PAGE_DOWN,
	ACTION_FIRST,
	ACTION_LAST,
	ACTION_TOGGLE,
	ACTION_UNFOLD,
	ACTION_FOLD,
	ACTION_UNFOLD_ALL,
	ACTION_NEXT_PAGE,
	ACTION_PREVIOUS_PAGE,
	ACTION_GO_TO_PAGE,
	ACTION_SEARCH,
	ACTION_SEARCH_NEXT,
	ACTION_SEARCH_PREVIOUS,
	ACTION_SORT,
	ACTION_REVERSE,
	ACTION_FILTER,
	ACTION_PAUSE,
	ACTION_HELP,
	ACTION_REDRAW,
	ACTION_QUIT,
	ACTION_MERGE,
	ACTION_WAITS,
};

enum action key_action(uint32_t key);

struct key_help {
	const char *keys, *words;
};

/* Ends with NULL keys. */
extern const struct key_help key_helps[];
