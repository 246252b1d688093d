/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers that begin at once, where others were killed: each has a name of its own, and gets what processes hand over. */
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collect/own/own_offers.h"
#include "pinchtrace_format.h"

enum { ROUNDS = 200, NO_READER = 2 };

/* The directory, with nobody else's sockets in it; in a process that ends. */
static void have_directory(void)
{
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", PINCHTRACE_DIRECTORY, "tmpfs", 0, "mode=1777,size=1m"))
		_exit(77);
}

static struct sockaddr_un address_of(int number)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s%d", PINCHTRACE_DIRECTORY, PINCHTRACE_READER_NAME,
		 number);
	return address;
}

static void leave_dead(int number)
{
	struct sockaddr_un address = address_of(number);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	unlink(address.sun_path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 1))
		_exit(1);
	close(fd);
}

/* As a process with an area does. */
static void hand_over(int number, int area)
{
	struct sockaddr_un address = address_of(number);
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	char byte = 0;
	struct iovec part = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control.bytes)
	};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(CMSG_DATA(&control.header), &area, sizeof(area));
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		sendmsg(fd, &message, MSG_NOSIGNAL);
	close(fd);
}

/* Begins with the others, says so, and waits for what is handed over: ends with how much it got. */
static _Noreturn void read_offers(int begin, int ready, int end)
{
	struct own_offers *offers;
	int got = 0;
	char c;

	read(begin, &c, 1);
	offers = own_offers_open();
	write(ready, "r", 1);
	read(end, &c, 1);
	own_offers_step(offers);
	while (own_offers_take(offers, getppid()) >= 0)
		got++;
	own_offers_close(offers);
	_exit(got);
}

/* How many got one; count readers, of which PINCHTRACE_READERS can have a name. */
static int run_readers(int count)
{
	int begin[2], ready[2], end[2], status, got = 0, area = memfd_create("area", MFD_CLOEXEC);
	pid_t pids[2 * PINCHTRACE_READERS];
	char c;

	if (pipe(begin) || pipe(ready) || pipe(end))
		_exit(1);
	for (int i = 0; i < count; i++) {
		pids[i] = fork();
		if (!pids[i]) {
			close(begin[1]);
			close(end[1]);
			read_offers(begin[0], ready[1], end[0]);
		}
	}
	close(begin[1]);
	for (int i = 0; i < count; i++)
		read(ready[0], &c, 1);
	for (int i = 0; i < PINCHTRACE_READERS; i++)
		hand_over(i, area);
	close(end[1]);
	for (int i = 0; i < count; i++) {
		waitpid(pids[i], &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
			_exit(1);
		got += WEXITSTATUS(status);
	}
	close(begin[0]);
	close(end[0]);
	close(ready[0]);
	close(ready[1]);
	close(area);
	return got;
}

/* In a process of its own: 0, 1, or 77 (not allowed). */
static int run(void (*test)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		have_directory();
		test();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void check(void (*test)(void))
{
	int status = run(test);

	if (status == 77)
		skip();
	CHECK_EQUAL(status, 0);
}

static void begin_at_once(void)
{
	for (int round = 0; round < ROUNDS; round++) {
		int dead_count = round % (PINCHTRACE_READERS + 1), got;

		for (int i = 0; i < dead_count; i++)
			leave_dead(i);
		got = run_readers(PINCHTRACE_READERS);
		if (got != PINCHTRACE_READERS) {
			fprintf(stderr, "# round %d: %d of %d readers, %d dead ones before\n", round, got,
				PINCHTRACE_READERS, dead_count);
			_exit(1);
		}
	}
}

TEST(readers_that_begin_at_once_have_names_of_their_own_also_where_others_were_killed)
{
	check(begin_at_once);
}

static void be_too_many(void)
{
	for (int round = 0; round < ROUNDS / 10; round++) {
		leave_dead(round % PINCHTRACE_READERS);
		if (run_readers(2 * PINCHTRACE_READERS) != PINCHTRACE_READERS)
			_exit(1);
	}
}

TEST(of_too_many_so_many_have_one)
{
	check(be_too_many);
}

/* Somebody keeps the directory: a name that is free is found, and nobody's is taken. */
static void be_kept_waiting(void)
{
	int lock = open(PINCHTRACE_DIRECTORY, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (flock(lock, LOCK_EX))
		_exit(1);
	leave_dead(0);
	if (run_readers(1) != 1 || access(address_of(0).sun_path, F_OK) || !access(address_of(1).sun_path, F_OK))
		_exit(1);
}

TEST(who_keeps_the_directory_keeps_nobody_waiting_for_long)
{
	check(be_kept_waiting);
}
