// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * blocked_input [healthy]
 * Planted bottleneck: an event loop of epoll's that reads messages from its standard input, be it a pipe or a socket. Each takes 0.2 ms in
 * answer_quickly(); every tenth is slow_handler()'s, which computes for 200 ms of CPU time: what comes meanwhile lies unread.
 * healthy: none is. Ends with its input.
 * Known answer: the longest iterations of the loop are slow_handler()'s, and input lies unread for most of 200 ms.
 */
#include "roles.h"
#include <stdbool.h>
#include <sys/epoll.h>

enum { SLOW_EVERY = 10, SLOW_MS = 200, QUICK_US = 200 };

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

int main(int argc, char **argv)
{
	bool is_healthy = argc > 1 && !strcmp(argv[1], "healthy");
	struct epoll_event event = { .events = EPOLLIN };
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, STDIN_FILENO, &event))
		die("epoll_ctl");
	for (unsigned number = 1;; number++) {
		char byte;

		if (epoll_wait(epoll_fd, &event, 1, -1) != 1 || read(STDIN_FILENO, &byte, 1) != 1)
			return 0;
		if (number % SLOW_EVERY || is_healthy)
			answer_quickly();
		else
			slow_handler();
	}
}
