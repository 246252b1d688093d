// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: two threads keep each message in a file of its own in outbox/, made durable with its directory, and
 * remove the one before. Cured: without fsync().
 * Known answer: files in outbox/, in keep_message().
 */
#include "planted.h"
#include <sys/stat.h>

enum { THREADS = 2, MESSAGE_BYTES = 2000, ROUTE_US = 50, FILES = 100 };

static int directory;

static OWN_FRAME void make_durable(int fd)
{
	if (!is_cured && fsync(fd))
		die("fsync");
}

static OWN_FRAME void keep_message(int thread, unsigned number)
{
	char new_name[64], name[64], old_name[64], message[MESSAGE_BYTES] = "";
	int fd;

	snprintf(new_name, sizeof(new_name), "new-%d-%u", thread, number);
	snprintf(name, sizeof(name), "message-%d-%u", thread, number);
	snprintf(old_name, sizeof(old_name), "message-%d-%u", thread, number - FILES);
	fd = openat(directory, new_name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || write(fd, message, sizeof(message)) != sizeof(message))
		die(new_name);
	make_durable(fd);
	close(fd);
	if (renameat(directory, new_name, directory, name))
		die(name);
	make_durable(directory);
	unlinkat(directory, old_name, 0);
}

static OWN_FRAME void route_message(void)
{
	burn_us(ROUTE_US);
}

static void run(int number)
{
	for (unsigned message = 0;; message++) {
		route_message();
		keep_message(number, message);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	planted_open(argc, argv);
	mkdir("outbox", 0755);
	directory = open("outbox", O_RDONLY | O_DIRECTORY);
	if (directory < 0)
		die("outbox");
	role_start_all(threads, THREADS, "router-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
