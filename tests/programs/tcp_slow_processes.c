// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tcp_slow_processes [-6]
 * Planted bottleneck: the process `client` (the first) asks the process `server`, its child, ten
 * times, by TCP on 127.0.0.1 or, with -6, on ::1; `server` computes for 70 ms before it answers.
 * Prints the server's port. Ends with status 77 where there is no such address.
 * Known answer: the heaviest wait is `socket`, in await_answer(), peer 127.0.0.1:PORT or
 * [::1]:PORT; `server` leads by compute_answer().
 */
#include "asking.h"

int main(int argc, char **argv)
{
	struct sockaddr_in six_not = { .sin_family = AF_INET };
	struct sockaddr_in6 six = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	int is_six = argc > 1 && !strcmp(argv[1], "-6");
	struct sockaddr *address = is_six ? (struct sockaddr *)&six : (struct sockaddr *)&six_not;
	socklen_t length = is_six ? sizeof(six) : sizeof(six_not);
	pid_t server;

	role_name_self("client");
	client = getpid();
	six_not.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listen_at(address, length)) {
		perror(is_six ? "::1" : "127.0.0.1");
		return TEST_SKIPPED;
	}
	printf("%d\n", ntohs(is_six ? six.sin6_port : six_not.sin_port));
	server = role_fork("server", answer_all);
	ask_all(address, length);
	role_wait(server);
	return 0;
}
