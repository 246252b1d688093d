// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * klock_socket [unix | udp [THREADS [LENGTH_MS]]]		(unix 8 1000)
 * Planted contention: the threads `talker-0` and so on send datagrams through one socket to another
 * one of the process, look at what comes first there, PEEKS times, and receive. Each receives after
 * it has sent, so that there is something, and what is queued is never more than one datagram a thread.
 * Known answer: unix: the mutex `iolock` of the receiving socket, which is held while a message is
 * copied, in peek_message() and take_message(). Page faults come into the copying, because the buffer
 * is unmapped before: a kernel that is not preempted gives up a CPU only at such points. udp: the
 * spinlock of the queue, with small messages, so that little else is done.
 */
#include "klock.h"
#include <arpa/inet.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>

enum { MESSAGE_BYTES_MAX = 96 << 10, UDP_MESSAGE_BYTES = 64, PEEKS = 8, BUFFER_BYTES = 1 << 20 };

static int sender, receiver;
static ssize_t message_bytes = MESSAGE_BYTES_MAX;
/* Row i is of thread i. */
static char messages[CREW_MAX][MESSAGE_BYTES_MAX] __attribute__((aligned(4096)));

static OWN_FRAME void put_message(const char *message)
{
	if (send(sender, message, message_bytes, 0) != message_bytes)
		die("send");
}

/* A datagram that was dropped on its way leaves nothing. */
static OWN_FRAME void peek_message(char *message)
{
	if (recv(receiver, message, message_bytes, MSG_PEEK | MSG_DONTWAIT) < 0 && errno != EAGAIN)
		die("recv");
}

static OWN_FRAME void take_message(char *message)
{
	if (recv(receiver, message, message_bytes, MSG_DONTWAIT) < 0 && errno != EAGAIN)
		die("recv");
}

static void turn(int number)
{
	char *message = messages[number];

	put_message(message);
	for (int i = 0; i < PEEKS; i++) {
		if (message_bytes == MESSAGE_BYTES_MAX && madvise(message, message_bytes, MADV_DONTNEED))
			die("madvise");
		peek_message(message);
	}
	take_message(message);
}

static void open_udp(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(address);

	message_bytes = UDP_MESSAGE_BYTES;
	receiver = socket(AF_INET, SOCK_DGRAM, 0);
	sender = socket(AF_INET, SOCK_DGRAM, 0);
	if (receiver < 0 || sender < 0 || bind(receiver, (struct sockaddr *)&address, length) ||
	    getsockname(receiver, (struct sockaddr *)&address, &length) ||
	    connect(sender, (struct sockaddr *)&address, length))
		die("socket");
}

static void open_unix(void)
{
	int fds[2], size = BUFFER_BYTES;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, fds) || setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)))
		die("socketpair");
	sender = fds[0];
	receiver = fds[1];
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "unix";

	crew_init(argc, argv, 2);
	if (!strcmp(kind, "unix")) {
		open_unix();
	} else if (!strcmp(kind, "udp")) {
		open_udp();
	} else {
		fprintf(stderr, "%s: neither unix nor udp\n", kind);
		return 2;
	}
	crew_run("talker-%d", turn);
	crew_emit(!strcmp(kind, "unix") ? "unix socket" : "udp socket", NULL);
	return 0;
}
