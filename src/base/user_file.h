/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files in which users say more than what is built in. */
#pragma once

#include <stddef.h>

/*
 * The path of a user's file: what the environment variable says, or else ~/.config/pinch/NAME ($XDG_CONFIG_HOME is
 * heeded) in room, if that is there. NULL: the user has none.
 */
const char *user_file_find(const char *variable, const char *name, char *room, size_t room_bytes);
