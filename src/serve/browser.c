/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

extern char **environ;

/* A browser of root's would be none of the user's. */
static bool has_desktop(void)
{
	return geteuid() && (getenv("DISPLAY") || getenv("WAYLAND_DISPLAY"));
}

void browser_open(const char *link)
{
	char *const arguments[] = { "xdg-open", (char *)link, NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	pid_t pid;

	if (!has_desktop())
		return;
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd ? O_WRONLY : O_RDONLY, 0);
	posix_spawnp(&pid, arguments[0], &actions, &attributes, arguments, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
}
