/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "helper/given.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "helper/message.h"
#include "helper/opener_message.h"

/*
 * Bytes that come along go into bytes, as far as there is space; *size_bytes is how many there were. *fd: the
 * caller's; -1: none came.
 */
static int ask(int opener, const struct wanted *wanted, const char *path, void *bytes, size_t capacity_bytes,
	       size_t *size_bytes, int *fd)
{
	struct iovec sent[2] = {
		{ (void *)wanted, sizeof(*wanted) },
		{ (void *)path, strlen(path) + 1 },
	};
	struct given given;
	struct iovec parts[2] = { { &given, sizeof(given) }, { bytes, capacity_bytes } };
	ssize_t n;

	*fd = -1;
	if (sent[1].iov_len > OPENER_PATH_BYTES)
		return -ENAMETOOLONG;
	/* Without the opener there is nothing to do. */
	if (message_send(opener, sent, 2, -1, true))
		_exit(0);
	n = message_receive(opener, parts, 2, fd, true);
	if (n < (ssize_t)sizeof(given))
		_exit(0);
	*size_bytes = n - sizeof(given);
	return given.err;
}

/* A descriptor or a negative errno. */
static int ask_file(int opener, const struct wanted *wanted, const char *path, char *found, size_t capacity_bytes,
		    size_t *size_bytes)
{
	int fd, err = ask(opener, wanted, path, found, capacity_bytes, size_bytes, &fd);

	if (!err && fd >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return err ? err : -EMFILE;
}

int given_file(int opener, uint32_t number)
{
	const struct wanted wanted = { .kind = WANTED_FILE, .number = number };
	size_t size_bytes;

	return ask_file(opener, &wanted, "", NULL, 0, &size_bytes);
}

int given_jit(int opener, uint32_t number)
{
	const struct wanted wanted = { .kind = WANTED_JIT, .number = number };
	size_t size_bytes;

	return ask_file(opener, &wanted, "", NULL, 0, &size_bytes);
}

int given_debug_file(int opener, uint32_t number, const char *path, bool is_ours, char *real_path,
		     size_t capacity_bytes)
{
	const struct wanted wanted = {
		.kind = is_ours ? WANTED_OUR_DEBUG : WANTED_DEBUG,
		.number = number,
	};
	char found[OPENER_PATH_BYTES];
	size_t size_bytes;
	int fd = ask_file(opener, &wanted, path, found, sizeof(found), &size_bytes);

	if (fd >= 0)
		snprintf(real_path, capacity_bytes, "%.*s", (int)size_bytes, size_bytes ? found : "");
	return fd;
}

int given_memory(int opener, uint32_t pid, uint64_t address, void *bytes, size_t size_bytes)
{
	const struct wanted wanted = {
		.kind = WANTED_MEMORY,
		.pid = pid,
		.address = address,
		.size_bytes = size_bytes,
	};
	size_t given_bytes;
	int fd, err;

	if (size_bytes > OPENER_MEMORY_BYTES)
		return -E2BIG;
	err = ask(opener, &wanted, "", bytes, size_bytes, &given_bytes, &fd);
	if (fd >= 0)
		close(fd);
	return err ? err : given_bytes == size_bytes ? 0 : -EFAULT;
}
