// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * unix_pair [DIRECTORY]			(.)
 * Planted bottleneck: the process `client` (the first) asks the process `server`, its child, ten
 * times, by a Unix socket with a path; `server` computes for 70 ms before it answers.
 * Known answer: the heaviest wait is `socket`, in await_answer(), peer DIRECTORY/server.socket; its
 * waker is answer() in `server`, which leads. The socket's file is removed.
 */
#include "roles.h"
#include <sys/socket.h>
#include <sys/un.h>

enum { QUESTIONS = 10, ANSWER_MS = 70 };

static int listening;
static pid_t client;

static OWN_FRAME void answer(int fd)
{
	await_blocked(client, SYS_recvfrom);
	compute_ms(ANSWER_MS);
	send(fd, "!", 1, 0);
}

static OWN_FRAME void serve(void)
{
	int fd = accept(listening, NULL, NULL);
	char byte;

	if (fd < 0)
		die("accept");
	while (recv(fd, &byte, 1, 0) == 1)
		answer(fd);
}

static OWN_FRAME void await_answer(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		die("recv");
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pid_t server;
	int fd;

	role_name_self("client");
	client = getpid();
	snprintf(address.sun_path, sizeof(address.sun_path), "%s",
		 path_in(argc > 1 ? argv[1] : ".", "server.socket"));
	unlink(address.sun_path);
	listening = socket(AF_UNIX, SOCK_STREAM, 0);
	if (bind(listening, (struct sockaddr *)&address, sizeof(address)) || listen(listening, 1))
		die(address.sun_path);
	server = role_fork("server", serve);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);	/* `server` must not inherit it */
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	for (int i = 0; i < QUESTIONS; i++) {
		if (send(fd, "?", 1, 0) != 1)
			die("send");
		await_answer(fd);
	}
	close(fd);
	role_wait(server);
	unlink(address.sun_path);
	return 0;
}
