// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * changed_server [HOT [COLD]]		(100, 100)
 * A server with a pool of threads, in a process of its own: its main thread reads requests from all connections into a
 * queue, POOL threads answer them, with hot() and cold() work. Clients ask over loopback, one request at a time each.
 * hot() does HOT percent
 * of its work, cold() COLD percent.
 * Known answer: to shorten hot() by half is the same as to run it with 50.
 */
#include "changed_work.h"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

enum { POOL = 3, CLIENTS = 4, REQUESTS = 700, QUEUE = CLIENTS, HOT = 3000, COLD = 1000 };

static int connections[CLIENTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int queue[QUEUE]; /* each connection is in it at most once; owned by lock */
static unsigned first, queued;
static int is_over; /* owned by lock */

/* --- Server ------------------------------------------------------------------------------------ */

static void put_request(int connection)
{
	pthread_mutex_lock(&lock);
	queue[(first + queued++) % QUEUE] = connection;
	pthread_cond_signal(&not_empty);
	pthread_mutex_unlock(&lock);
}

/* -1: there are no more. */
static int take_request(void)
{
	int connection = -1;

	pthread_mutex_lock(&lock);
	while (!queued && !is_over)
		pthread_cond_wait(&not_empty, &lock);
	if (queued) {
		connection = queue[first];
		first = (first + 1) % QUEUE;
		queued--;
	}
	pthread_mutex_unlock(&lock);
	return connection;
}

static void answer_requests(int number)
{
	char answer = '.';
	int connection;

	(void)number;
	while ((connection = take_request()) >= 0) {
		cold(COLD);
		hot(HOT);
		if (write(connection, &answer, 1) != 1)
			die("write");
	}
}

static void read_requests(void)
{
	struct pollfd polled[CLIENTS];
	int left = CLIENTS;
	char request;

	for (int i = 0; i < CLIENTS; i++)
		polled[i] = (struct pollfd){ .fd = connections[i], .events = POLLIN };
	while (left) {
		if (poll(polled, CLIENTS, -1) < 0)
			die("poll");
		for (int i = 0; i < CLIENTS; i++) {
			if (!polled[i].revents)
				continue;
			if (read(polled[i].fd, &request, 1) == 1) {
				put_request(polled[i].fd);
				continue;
			}
			polled[i].fd = -1;
			left--;
		}
	}
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_broadcast(&not_empty);
	pthread_mutex_unlock(&lock);
}

static void serve(int listener)
{
	struct role roles[POOL];

	for (int i = 0; i < CLIENTS; i++)
		if ((connections[i] = accept(listener, NULL, NULL)) < 0)
			die("accept");
	close(listener);
	role_start_all(roles, POOL, "pool-%d", answer_requests);
	read_requests();
	role_join_all(roles, POOL);
}

/* --- Clients ----------------------------------------------------------------------------------- */

static struct sockaddr_in address = { .sin_family = AF_INET };

static void ask(int number)
{
	int connection = socket(AF_INET, SOCK_STREAM, 0);
	char byte = '?';

	(void)number;
	if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof(address)))
		die("connect");
	for (int i = 0; i < REQUESTS; i++)
		if (write(connection, &byte, 1) != 1 || read(connection, &byte, 1) != 1)
			die("request");
	close(connection);
}

int main(int argc, char **argv)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t length = sizeof(address);
	struct role roles[CLIENTS];
	pid_t server;

	if (argc > 1)
		hot_percent = atoi(argv[1]);
	if (argc > 2)
		cold_percent = atoi(argv[2]);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) || listen(listener, CLIENTS) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		die("listen");
	server = fork();
	if (server < 0)
		die("fork");
	if (!server) {
		serve(listener);
		return 0;
	}
	close(listener);
	role_start_all(roles, CLIENTS, "client-%d", ask);
	role_join_all(roles, CLIENTS);
	return waitpid(server, NULL, 0) != server;
}
