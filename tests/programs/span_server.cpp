// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted tasks: three threads `server-0` to `server-2` answer 40 requests each over a socket, one after the
 * other. Of each ten the last one is slow: the client holds a lock that the request needs until it
 * has waited for 20 ms. A request calls Server::descend() three deep, reads 1000 bytes once to three times,
 * by turns, writes 300, and touches two pages that it has not touched before.
 * Known answer: 120 executions of recvfrom..sendto and of Server::handle(), of which 12 wait for a lock for
 * 20 ms and more; 360 of Server::descend(), 120 of each depth.
 */
#include "roles.h"

#include <sys/mman.h>
#include <sys/socket.h>

enum { SERVERS = 3, REQUESTS = 40, SLOW_EACH = 10, SLOW_MS = 20, DEPTH = 3 };
enum { READS = 3, READ_BYTES = 1000, WRITTEN_BYTES = 300, PAGES = 2 };

static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static int sockets[SERVERS][2];
static volatile int sink;

class Server
{
      public:
	explicit Server(int descriptor) : descriptor(descriptor)
	{
	}
	void serve();

      private:
	OWN_FRAME void handle(int request);
	void transfer(int request);
	OWN_FRAME int descend(unsigned depth);

	int descriptor;
};

int Server::descend(unsigned depth)
{
	if (depth + 1 < DEPTH)
		sink = descend(depth + 1) + 1;
	return sink;
}

void Server::transfer(int request)
{
	static const int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	char bytes[READ_BYTES];
	char *pages = (char *)mmap(NULL, PAGES * sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i <= request % READS; i++)
		if (read(zero, bytes, sizeof(bytes)) != sizeof(bytes))
			die("read");
	if (write(null, bytes, WRITTEN_BYTES) != WRITTEN_BYTES || pages == MAP_FAILED)
		die("write");
	for (int i = 0; i < PAGES; i++)
		pages[i * sysconf(_SC_PAGESIZE)] = 1;
	munmap(pages, PAGES * sysconf(_SC_PAGESIZE));
}

void Server::handle(int request)
{
	descend(0);
	transfer(request);
	if (request % SLOW_EACH == SLOW_EACH - 1) {
		pthread_mutex_lock(&shared_lock);
		pthread_mutex_unlock(&shared_lock);
	}
}

void Server::serve()
{
	for (int i = 0; i < REQUESTS; i++) {
		int request;

		if (recvfrom(descriptor, &request, sizeof(request), 0, NULL, NULL) != sizeof(request))
			die("recvfrom");
		handle(request);
		if (sendto(descriptor, &request, sizeof(request), 0, NULL, 0) != sizeof(request))
			die("sendto");
	}
}

static void serve(int number)
{
	Server(sockets[number][1]).serve();
}

/* Its read and write are of the other end: they are no one's recvfrom. */
static void ask(struct role *server, int number, int request)
{
	bool is_slow = request % SLOW_EACH == SLOW_EACH - 1;
	int answer;

	if (is_slow)
		pthread_mutex_lock(&shared_lock);
	if (write(sockets[number][0], &request, sizeof(request)) != sizeof(request))
		die("write");
	if (is_slow) {
		role_await_all(server, 1, SYS_futex);
		sleep_ms(SLOW_MS);
		pthread_mutex_unlock(&shared_lock);
	}
	if (read(sockets[number][0], &answer, sizeof(answer)) != sizeof(answer) || answer != request)
		die("read");
}

int main()
{
	static struct role servers[SERVERS];

	role_name_self("client");
	for (int i = 0; i < SERVERS; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets[i]))
			die("socketpair");
	role_start_all(servers, SERVERS, "server-%d", serve);
	for (int request = 0; request < REQUESTS; request++)
		for (int i = 0; i < SERVERS; i++)
			ask(&servers[i], i, request);
	role_join_all(servers, SERVERS);
	return 0;
}
