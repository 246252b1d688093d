/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/terminal/terminfo.h"

#include <ncurses.h>
#include <term.h>

const char *terminfo_string(const char *name)
{
	const char *string = tigetstr(name);

	return string == (char *)-1 ? NULL : string;
}

enum terminfo_state terminfo_check(int fd)
{
	enum terminfo_state state;
	int err;

	if (setupterm(NULL, fd, &err) == ERR)
		return TERMINFO_NO_TYPE;
	state = terminfo_string("cup") ? TERMINFO_FINE : TERMINFO_NO_CURSOR;
	del_curterm(cur_term);
	return state;
}
