// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the thread `receiver` (main) waits on a UDP socket of 127.0.0.1 for what the
 * thread `sender` computes, ten times, 70 ms each. Prints the port of `receiver`.
 * Known answer: the heaviest wait is `socket`, in await_datagram(), on 127.0.0.1:PORT, which is
 * connected to nobody; `sender` leads by compute_datagram().
 */
#include "roles.h"
#include <arpa/inet.h>
#include <sys/socket.h>

enum { DATAGRAMS = 10, DATAGRAM_MS = 70 };

static struct sockaddr_in address = { .sin_family = AF_INET };
static pid_t receiver;

static OWN_FRAME void compute_datagram(void)
{
	await_blocked(receiver, SYS_recvfrom);
	compute_ms(DATAGRAM_MS);
}

static OWN_FRAME void send_datagrams(int number)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	(void)number;
	for (int i = 0; i < DATAGRAMS; i++) {
		compute_datagram();
		if (sendto(fd, "!", 1, 0, (struct sockaddr *)&address, sizeof(address)) != 1)
			die("sendto");
	}
	close(fd);
}

static OWN_FRAME void await_datagram(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, 0) != 1)
		die("recv");
}

int main(void)
{
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	struct role sender;

	role_name_self("receiver");
	receiver = gettid();
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)&address, length) || getsockname(fd, (struct sockaddr *)&address, &length))
		die("bind");
	printf("%d\n", ntohs(address.sin_port));
	role_start(&sender, "sender", send_datagrams, 0);
	for (int i = 0; i < DATAGRAMS; i++)
		await_datagram(fd);
	role_join_all(&sender, 1);
	return 0;
}
