// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted bottleneck: the process `server` (the first) waits by epoll for the two sockets of the
 * process `client`, its child. In turn, `client` computes for 60 ms before it asks, in think(), and
 * `server` for 60 ms before it answers, in serve_request().
 * Known answer: two waits of about equal length: `poll`, in event_loop(), whose waker is ask() in
 * `client`; and `socket`, in await_answer(), whose waker is serve_request() in `server`.
 */
#include "roles.h"
#include <sys/epoll.h>
#include <sys/socket.h>

enum { CONNECTIONS = 2, QUESTIONS = 8, THINK_MS = 60, SERVE_MS = 60 };

static int served[CONNECTIONS], asked[CONNECTIONS];
static pid_t server, client;

static OWN_FRAME void think(void)
{
	await_blocked(server, ANY_CALL);
	compute_ms(THINK_MS);
}

static OWN_FRAME void ask(int fd)
{
	write_byte(fd);
}

static OWN_FRAME void await_answer(int fd)
{
	read_byte(fd);
}

static OWN_FRAME void be_client(void)
{
	for (int i = 0; i < QUESTIONS; i++) {
		think();
		ask(asked[i % CONNECTIONS]);
		await_answer(asked[i % CONNECTIONS]);
	}
}

static OWN_FRAME void serve_request(int fd)
{
	await_blocked(client, SYS_read);
	compute_ms(SERVE_MS);
	write_byte(fd);
}

static OWN_FRAME void event_loop(int epoll_fd)
{
	for (int open_count = CONNECTIONS; open_count;) {
		struct epoll_event event;
		char byte;

		if (epoll_wait(epoll_fd, &event, 1, -1) != 1)
			die("epoll_wait");
		if (read(event.data.fd, &byte, 1) == 1) {
			serve_request(event.data.fd);
		} else {
			epoll_ctl(epoll_fd, EPOLL_CTL_DEL, event.data.fd, NULL);
			open_count--;
		}
	}
}

int main(void)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);

	role_name_self("server");
	server = getpid();
	for (int i = 0; i < CONNECTIONS; i++) {
		struct epoll_event event = { .events = EPOLLIN };
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
			die("socketpair");
		served[i] = event.data.fd = ends[0];
		asked[i] = ends[1];
		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, served[i], &event))
			die("epoll_ctl");
	}
	client = role_fork("client", be_client);
	for (int i = 0; i < CONNECTIONS; i++)
		close(asked[i]);
	event_loop(epoll_fd);
	role_wait(client);
	return 0;
}
