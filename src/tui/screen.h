/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: the only user of ncurses. There is one, standard input and output of the process;
 * it is given back as it was found however the process ends, unless it is killed by SIGKILL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mouse_place;
struct ui_line;

/* Whether there is a terminal that can be drawn on. -ENOTTY, after a message, when not. */
int screen_check(void);

/* Whether it shows UTF-8; sets the locale right. */
bool screen_has_unicode(void);

/* The signals that end or resize it are the caller's to receive: block them first. */
int screen_open(void);
void screen_close(void);

/* Gives the terminal back while the process is stopped, and takes it again. */
void screen_suspend(void);
void screen_resume(void);

/* The terminal may have another size. */
void screen_resize(uint32_t *columns, uint32_t *lines);

/* The next key that was pressed, as in keys.h, place: where, if it is one of the mouse; 0: none. Does not wait. */
uint32_t screen_read_key(struct mouse_place *place);

/* is_anew: draws everything, whatever is thought to stand there. */
void screen_draw(const struct ui_line *lines, size_t count, bool is_anew);
