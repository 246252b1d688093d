// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blocked_server [healthy]
 * Planted bottleneck: a server of one thread, an event loop of epoll's. To each byte of a client it answers with one, after
 * 0.2 ms in answer_quickly(); every tenth time it is slow_handler(), which computes for 50 ms of CPU time: all other clients wait for it.
 * healthy: it never is. Prints its port, and serves until it is killed.
 * Known answer: the longest iterations of the loop, 50 ms each, are slow_handler()'s.
 */
#include "roles.h"
#include <netinet/in.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { SLOW_EVERY = 10, SLOW_MS = 50, QUICK_US = 200, EVENTS = 16 };

static OWN_FRAME void slow_handler(void)
{
	uint64_t end_ns = cpu_time_ns() + SLOW_MS * 1000000ull;

	while (cpu_time_ns() < end_ns)
		;
}

static OWN_FRAME void answer_quickly(void)
{
	uint64_t end_ns = cpu_time_ns() + QUICK_US * 1000ull;

	while (cpu_time_ns() < end_ns)
		;
}

static void watch(int epoll_fd, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
		die("epoll_ctl");
}

static int listen_somewhere(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, size) || listen(fd, EVENTS) ||
	    getsockname(fd, (struct sockaddr *)&address, &size))
		die("listen");
	printf("%u\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

static OWN_FRAME void serve(int fd, bool is_healthy)
{
	static unsigned served;
	char byte;

	if (read(fd, &byte, 1) != 1) {
		close(fd);
		return;
	}
	if (++served % SLOW_EVERY || is_healthy)
		answer_quickly();
	else
		slow_handler();
	if (write(fd, &byte, 1) != 1)
		close(fd);
}

int main(int argc, char **argv)
{
	bool is_healthy = argc > 1 && !strcmp(argv[1], "healthy");
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC), listening = listen_somewhere();

	signal(SIGPIPE, SIG_IGN);
	watch(epoll_fd, listening);
	for (;;) {
		struct epoll_event events[EVENTS];
		int count = epoll_wait(epoll_fd, events, EVENTS, -1);

		for (int i = 0; i < count; i++) {
			if (events[i].data.fd == listening)
				watch(epoll_fd, accept(listening, NULL, NULL));
			else
				serve(events[i].data.fd, is_healthy);
		}
	}
}
