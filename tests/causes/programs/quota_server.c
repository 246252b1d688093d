// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * quota_server PORT [cured]
 * A server with a thread a connection that answers each line. Planted cause: before each answer check_quota() sleeps
 * for 20 ms. Cured: it does not.
 * Known answer: the sleep in check_quota().
 */
#include "planted.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

enum { PAUSE_MS = 20, RENDER_US = 200 };

static OWN_FRAME void check_quota(void)
{
	if (!is_cured)
		sleep_ms(PAUSE_MS);
}

static OWN_FRAME void render_answer(void)
{
	burn_us(RENDER_US);
}

static void *serve(void *data)
{
	int fd = (int)(intptr_t)data, yes = 1;
	char line[64];

	role_name_self("handler");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
	while (read(fd, line, sizeof(line)) > 0) {
		check_quota();
		render_answer();
		if (write(fd, "ok\n", 3) != 3)
			break;
		planted_done(1);
	}
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd;
	pthread_t thread;

	planted_open(argc, argv);
	at.sin_port = htons(argc > 1 ? atoi(argv[1]) : 0);
	if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 64))
		die("bind");
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		if (pthread_create(&thread, NULL, serve, (void *)(intptr_t)fd))
			die("pthread_create");
		pthread_detach(thread);
	}
	return 1;
}
