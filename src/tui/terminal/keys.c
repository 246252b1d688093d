/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/terminal/keys.h"

enum { CONTROL_B = 2, CONTROL_D = 4, CONTROL_F = 6, CONTROL_L = 12, CONTROL_U = 21 };

/* clang-format off */
static const struct {
	uint32_t key;
	enum action action;
} keys[] = {
	{ KEY_CODE_UP, ACTION_UP }, { 'k', ACTION_UP },
	{ KEY_CODE_DOWN, ACTION_DOWN }, { 'j', ACTION_DOWN },
	{ KEY_CODE_PAGE_UP, ACTION_PAGE_UP }, { 'b', ACTION_PAGE_UP },
	{ CONTROL_B, ACTION_PAGE_UP }, { CONTROL_U, ACTION_PAGE_UP },
	{ KEY_CODE_PAGE_DOWN, ACTION_PAGE_DOWN }, { ' ', ACTION_PAGE_DOWN },
	{ CONTROL_F, ACTION_PAGE_DOWN }, { CONTROL_D, ACTION_PAGE_DOWN },
	{ KEY_CODE_WHEEL_UP, ACTION_WHEEL_UP }, { KEY_CODE_WHEEL_DOWN, ACTION_WHEEL_DOWN },
	{ KEY_CODE_HOME, ACTION_FIRST }, { 'g', ACTION_FIRST },
	{ KEY_CODE_END, ACTION_LAST }, { 'G', ACTION_LAST },
	{ KEY_CODE_ENTER, ACTION_TOGGLE }, { '\r', ACTION_TOGGLE },
	{ '+', ACTION_UNFOLD }, { '=', ACTION_UNFOLD }, { '-', ACTION_FOLD },
	{ 'E', ACTION_UNFOLD_ALL },
	{ KEY_CODE_TAB, ACTION_NEXT_PAGE }, { KEY_CODE_RIGHT, ACTION_NEXT_PAGE },
	{ KEY_CODE_BACK_TAB, ACTION_PREVIOUS_PAGE }, { KEY_CODE_LEFT, ACTION_PREVIOUS_PAGE },
	{ '/', ACTION_SEARCH }, { 'n', ACTION_SEARCH_NEXT }, { 'N', ACTION_SEARCH_PREVIOUS },
	{ 's', ACTION_SORT }, { 'S', ACTION_REVERSE }, { 'f', ACTION_FILTER }, { 'p', ACTION_PAUSE },
	{ 'm', ACTION_MERGE }, { 'w', ACTION_WAITS },
	{ '?', ACTION_HELP }, { 'h', ACTION_HELP },
	{ CONTROL_L, ACTION_REDRAW }, { 'q', ACTION_QUIT }, { 'Q', ACTION_QUIT },
};
/* clang-format on */

enum action key_action(uint32_t key)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].key == key)
			return keys[i].action;
	return (key >= '0' && key <= '9') || key == 'o' ? ACTION_GO_TO_PAGE : ACTION_NONE;
}

const struct key_help key_helps[] = {
	{ "Up Down  k j", "one row up, down" },
	{ "PgUp PgDn  b Space", "one screen up, down" },
	{ "Home End  g G", "first row, last row" },
	{ "Tab Left Right 0-9 o", "next page, page left or right, page of this key" },
	{ "Click  Wheel", "go there; again: unfold; up, down. Shift: select text" },
	{ "Enter", "unfold the row, or fold it" },
	{ "+ -", "unfold; fold, or go to the parent row" },
	{ "E", "unfold all rows of the page; again: fold all" },
	{ "/", "search; lower case matches both cases" },
	{ "n N", "next match, previous match" },
	{ "s S", "sort by the next column; reverse the order" },
	{ "f", "filter by thread name or cause" },
	{ "p", "pause: freeze the figures until pressed again" },
	{ "w", "with a trace: GRAPH of the row's thread; again: of all" },
	{ "m", "GRAPH, CRITICAL: merge threads by name; again: split" },
	{ "? h", "this help, and back" },
	{ "Ctrl-L", "redraw the screen" },
	{ "Ctrl-C", "stop tracing and keep the report; again: quit" },
	{ "q", "quit" },
	{ 0 },
};
