/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/user_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *user_file_find(const char *variable, const char *name, char *room, size_t room_bytes)
{
	const char *path = getenv(variable);
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (path && *path)
		return path;
	if (config && *config)
		snprintf(room, room_bytes, "%s/pinch/%s", config, name);
	else if (home && *home)
		snprintf(room, room_bytes, "%s/.config/pinch/%s", home, name);
	else
		return NULL;
	return access(room, F_OK) ? NULL : room;
}
