/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is known about a type of terminal. Apart, for <term.h> gives macros the names of everything. */
#pragma once

enum terminfo_state { TERMINFO_FINE, TERMINFO_NO_TYPE, TERMINFO_NO_CURSOR };

/* Whether the type that TERM tells can be drawn on. */
enum terminfo_state terminfo_check(int fd);

/* A capability of the terminal that ncurses has open; NULL: it has none. */
const char *terminfo_string(const char *name);
