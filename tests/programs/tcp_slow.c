// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `client` (main) asks the thread `server` ten times, by TCP on
 * 127.0.0.1, and `server` computes for 70 ms before it answers. Prints the server's port.
 * Known answer: the heaviest wait is `socket`, in await_answer(), peer 127.0.0.1:PORT; `server`
 * leads by compute_answer(). The loopback delivers from send() in `server`, as a network interrupt.
 */
#include "roles.h"
#include <arpa/inet.h>
#include <sys/socket.h>

enum { QUESTIONS = 10, ANSWER_MS = 70 };

static int listening;
static pid_t client;

static OWN_FRAME void compute_answer(void)
{
	await_blocked(client, SYS_recvfrom);
	compute_ms(ANSWER_MS);
}

static OWN_FRAME void serve(int number)
{
	int fd = accept(listening, NULL, NULL);
	char byte;

	(void)number;
	if (fd < 0)
		die("accept");
	while (recv(fd, &byte, 1, 0) == 1) {
		compute_answer();
		send(fd, &byte, 1, 0);
	}
	close(fd);
}

static OWN_FRAME void await_answer(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		die("recv");
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct role server;

	role_name_self("client");
	client = gettid();
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listening, (struct sockaddr *)&address, length) || listen(listening, 1) ||
	    getsockname(listening, (struct sockaddr *)&address, &length))
		die("listen");
	printf("%d\n", ntohs(address.sin_port));
	role_start(&server, "server", serve, 0);
	if (connect(fd, (struct sockaddr *)&address, length))
		die("connect");
	for (int i = 0; i < QUESTIONS; i++) {
		if (send(fd, "?", 1, 0) != 1)
			die("send");
		await_answer(fd);
	}
	close(fd);
	role_join_all(&server, 1);
	return 0;
}
