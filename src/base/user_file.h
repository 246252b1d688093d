/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files in which users say more than what is built in, and what is kept for them. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct text;

/*
 * The path of a user's file: what the environment variable says, or else ~/.config/pinch/NAME ($XDG_CONFIG_HOME is
 * heeded) in buffer, if that is there. NULL: the user has none.
 */
const char *user_file_find(const char *variable, const char *name, char *buffer, size_t buffer_bytes);

/*
 * Opens a user's file to be read, for the caller to close: a regular one, for others might never end. 0, or a negative
 * errno after a message; what: the words for what is in it.
 */
int user_file_open(const char *path, const char *what, FILE **out);

/*
 * A directory in the user's own cache, $XDG_CACHE_HOME/pinch/NAME or ~/.cache/pinch/NAME, which is made where it is
 * missing and which nobody else may write to, for the caller to close. name: NULL, what all of these are in. Puts its
 * path. -1: there is none.
 */
int user_cache_open(const char *name, struct text *path);
