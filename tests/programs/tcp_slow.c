// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `client` (main) asks the thread `server` ten times, by TCP on
 * 127.0.0.1, and `server` computes for 70 ms before it answers. Prints the server's port.
 * Known answer: the heaviest wait is `socket`, in await_answer(), peer 127.0.0.1:PORT; `server`
 * leads by compute_answer(). The loopback delivers from send() in `server`, as a network interrupt.
 */
#include "asking.h"

static void serve(int number)
{
	(void)number;
	answer_all();
}

int main(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct role server;

	role_name_self("client");
	client = gettid();
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listen_at((struct sockaddr *)&address, sizeof(address)))
		die("listen");
	printf("%d\n", ntohs(address.sin_port));
	role_start(&server, "server", serve, 0);
	ask_all((struct sockaddr *)&address, sizeof(address));
	role_join_all(&server, 1);
	return 0;
}
