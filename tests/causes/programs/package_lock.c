// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: three processes install packages into one data base and lock its file for that, packages.lock, as
 * package managers do: who does not get the lock sleeps for 20 ms and tries again. One of them works for 60 ms while it
 * has the lock. Cured: it works before it takes the lock.
 * Known answer: the lock of packages.lock, held by unpack_archive().
 */
#include "planted.h"
#include <errno.h>
#include <fcntl.h>

enum { CLIENTS = 2, UNPACK_US = 60000, ENTRY_US = 500, RETRY_MS = 20, PAUSE_MS = 5 };

static int lock_file(void)
{
	int fd = open("packages.lock", O_RDWR | O_CREAT, 0644);

	if (fd < 0)
		die("packages.lock");
	return fd;
}

static void set_lock(int fd, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	while (fcntl(fd, F_SETLK, &lock)) {
		if (errno != EAGAIN && errno != EACCES)
			die("fcntl");
		sleep_ms(RETRY_MS);
	}
}

static OWN_FRAME void unpack_archive(void)
{
	burn_us(UNPACK_US);
}

static OWN_FRAME void add_entry(void)
{
	burn_us(ENTRY_US);
}

static void run_unpacker(void)
{
	int fd = lock_file();

	for (;;) {
		if (is_cured)
			unpack_archive();
		set_lock(fd, F_WRLCK);
		if (!is_cured)
			unpack_archive();
		set_lock(fd, F_UNLCK);
		sleep_ms(PAUSE_MS);
	}
}

static void run_client(void)
{
	int fd = lock_file();

	for (;;) {
		set_lock(fd, F_WRLCK);
		add_entry();
		set_lock(fd, F_UNLCK);
		planted_done(1);
		sleep_ms(PAUSE_MS);
	}
}

int main(int argc, char **argv)
{
	pid_t unpacker, clients[CLIENTS];

	planted_open(argc, argv);
	unpacker = role_fork("unpacker", run_unpacker);
	for (int i = 0; i < CLIENTS; i++)
		clients[i] = role_fork("client", run_client);
	for (int i = 0; i < CLIENTS; i++)
		role_wait(clients[i]);
	role_wait(unpacker);
	return 0;
}
