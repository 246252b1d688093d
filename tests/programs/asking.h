// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One that asks and one that answers, by a socket that the one listens on and the other connects to.
 * Each answer is computed when the client, which says who it is first, waits for it.
 */
#pragma once

#include "roles.h"
#include <arpa/inet.h>
#include <sys/socket.h>

enum { QUESTIONS = 10, ANSWER_MS = 70 };

static int listening;
static pid_t client;

/* address: gets the port. */
static int listen_at(struct sockaddr *address, socklen_t length)
{
	listening = socket(address->sa_family, SOCK_STREAM, 0);
	return bind(listening, address, length) || listen(listening, 1) || getsockname(listening, address, &length);
}

static OWN_FRAME void compute_answer(void)
{
	await_blocked(client, SYS_recvfrom);
	compute_ms(ANSWER_MS);
}

static OWN_FRAME void answer(int fd)
{
	compute_answer();
	send(fd, "!", 1, 0);
}

static void answer_all(void)
{
	int fd = accept(listening, NULL, NULL);
	char byte;

	if (fd < 0)
		die("accept");
	while (recv(fd, &byte, 1, 0) == 1)
		answer(fd);
	close(fd);
}

static OWN_FRAME void await_answer(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		die("recv");
}

static void ask_all(const struct sockaddr *address, socklen_t length)
{
	int fd = socket(address->sa_family, SOCK_STREAM, 0);

	if (connect(fd, address, length))
		die("connect");
	for (int i = 0; i < QUESTIONS; i++) {
		if (send(fd, "?", 1, 0) != 1)
			die("send");
		await_answer(fd);
	}
	close(fd);
}
