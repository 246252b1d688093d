// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unix_pair [DIRECTORY]			(.)
 * Planted bottleneck: the process `client` (the first) asks the process `server`, its child, ten
 * times, by a Unix socket with a path; `server` computes for 70 ms before it answers.
 * Known answer: the heaviest wait is `socket`, in await_answer(), peer DIRECTORY/server.socket; its
 * waker is answer() in `server`, which leads. The socket's file is removed.
 */
#include "asking.h"
#include <sys/un.h>

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pid_t server;

	role_name_self("client");
	client = getpid();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path_in(argc > 1 ? argv[1] : ".", "server.socket"));
	unlink(address.sun_path);
	if (listen_at((struct sockaddr *)&address, sizeof(address)))
		die(address.sun_path);
	server = role_fork("server", answer_all);
	ask_all((struct sockaddr *)&address, sizeof(address));
	role_wait(server);
	unlink(address.sun_path);
	return 0;
}
