/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What terminals say of the mouse in mode 1006, of xterm: "\033[<0;21;2M" is a press at column 21 of line 2, m a release. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Switch it on and off. */
#define MOUSE_ON "\033[?1000h\033[?1006h"
#define MOUSE_OFF "\033[?1006l\033[?1000l"

enum { MOUSE_REPORT_BYTES_MAX = 24 };

/* Of the character that the mouse is on, from 0. */
struct mouse_place {
	uint32_t column, line;
};

/*
 * The key, of keys.h, that a report stands for, without its first three characters: KEY_CODE_CLICK, one of the wheel, or
 * KEY_CODE_OTHER, for other buttons, releases and what is no report. place: where, of those.
 */
uint32_t mouse_key(const char *report, struct mouse_place *place);
