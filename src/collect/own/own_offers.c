/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/own/own_offers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "area/area.h"
#include "base/clock.h"
#include "base/memory.h"

enum {
	BACKLOG = 4096, /* the kernel has a limit of its own */
	AT_ONCE = 1024,
	OFFERS_MAX = 1024,
	STRANGE_MAX = 64, /* files that are not closed, see drop() */
	LOCK_TRIES = 100, /* a millisecond each */
};

/* From the descriptor to the kernel side's word that the process is traced: events come in batches. */
static const uint64_t kept_ns = 2000000000;

struct offer {
	uint32_t pid;
	int fd;
	uint64_t since_ns;
};

struct own_offers {
	int socket; /* -1: none */
	struct sockaddr_un address;
	struct offer *list;
	size_t count, capacity;
	size_t strange_count;
};

static struct sockaddr_un address_of(int number)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s%d", PINCHTRACE_DIRECTORY, PINCHTRACE_READER_NAME,
		 number);
	return address;
}

/* What a killed reader has left goes. */
static void remove_dead(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) && errno == ECONNREFUSED)
		unlink(address->sun_path);
	close(fd);
}

/* A socket that listens; -1: there is one by this name. */
static int listen_at(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)address, sizeof(*address))) {
		close(fd);
		return -1;
	}
	/* All users' programs may have areas. */
	if (!chmod(address->sun_path, 0666) && !listen(fd, BACKLOG))
		return fd;
	unlink(address->sun_path);
	close(fd);
	return -1;
}

/*
 * Held by one reader at a time, while it looks for a name: who binds its socket and does not listen yet looks like a dead one. -1: somebody
 * has kept it for long.
 */
static int lock_directory(void)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	int fd = open(PINCHTRACE_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return fd;
		nanosleep(&pause, NULL);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static void find_name(struct own_offers *offers)
{
	int lock = lock_directory();

	offers->socket = -1;
	for (int number = 0; number < PINCHTRACE_READERS && offers->socket < 0; number++) {
		offers->address = address_of(number);
		/* Another reader's, unless nobody else can begin now. */
		if (lock >= 0)
			remove_dead(&offers->address);
		offers->socket = listen_at(&offers->address);
	}
	if (lock >= 0)
		close(lock);
}

struct own_offers *own_offers_open(void)
{
	struct own_offers *offers = xcalloc(1, sizeof(*offers));

	find_name(offers);
	return offers;
}

void own_offers_close(struct own_offers *offers)
{
	for (size_t i = 0; i < offers->count; i++)
		close(offers->list[i].fd);
	if (offers->socket >= 0) {
		unlink(offers->address.sun_path);
		close(offers->socket);
	}
	free(offers->list);
	free(offers);
}

/* Of memory files alone it is known that nobody is asked before they are read. */
static bool is_in_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

/* The file system of any other file may be a program, which need not answer to its close: it stays open. */
static void drop(struct own_offers *offers, int fd)
{
	if (is_in_memory(fd))
		close(fd);
	else
		offers->strange_count++;
}

static void forget_old(struct own_offers *offers)
{
	uint64_t now_ns = clock_ns();
	size_t kept = 0;

	for (size_t i = 0; i < offers->count; i++)
		if (now_ns - offers->list[i].since_ns > kept_ns)
			close(offers->list[i].fd);
		else
			offers->list[kept++] = offers->list[i];
	offers->count = kept;
}

static void add(struct own_offers *offers, uint32_t pid, int fd)
{
	if (offers->count == OFFERS_MAX || !is_in_memory(fd)) {
		drop(offers, fd);
		return;
	}
	ARRAY_GROW(offers->list, offers->count, offers->capacity, 16);
	offers->list[offers->count++] = (struct offer){ pid, fd, clock_ns() };
}

/* What comes with the first byte; -1: nothing. */
static int receive(int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int received;

	if (recvmsg(fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) < 0 ||
	    message.msg_controllen < sizeof(control.header) || control.header.cmsg_level != SOL_SOCKET ||
	    control.header.cmsg_type != SCM_RIGHTS || control.header.cmsg_len != CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&received, CMSG_DATA(&control.header), sizeof(received));
	return received;
}

static void take_one(struct own_offers *offers, int connection)
{
	socklen_t size_bytes = sizeof(struct ucred);
	struct ucred who;
	int fd;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size_bytes) || who.pid <= 0)
		return;
	fd = receive(connection);
	if (fd >= 0)
		add(offers, who.pid, fd);
}

void own_offers_step(struct own_offers *offers)
{
	forget_old(offers);
	for (int i = 0; i < AT_ONCE && offers->socket >= 0 && offers->strange_count < STRANGE_MAX; i++) {
		int connection = accept4(offers->socket, NULL, NULL, SOCK_CLOEXEC);

		if (connection < 0)
			return;
		take_one(offers, connection);
		close(connection);
	}
}

int own_offers_take(struct own_offers *offers, uint32_t pid)
{
	for (size_t i = 0; i < offers->count; i++) {
		int fd = offers->list[i].fd;

		if (offers->list[i].pid != pid)
			continue;
		offers->list[i] = offers->list[--offers->count];
		return fd;
	}
	return -ENOENT;
}
