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
static int exchange(int opener, const struct iovec *sent, struct iovec *received, int received_count,
		    size_t *size_bytes, int *fd)
{
	struct given given;
	struct iovec parts[3] = { { &given, sizeof(given) } };
	ssize_t n;

	memcpy(parts + 1, received, received_count * sizeof(*received));
	/* Without the opener there is nothing to do. */
	if (message_send(opener, sent, 2, -1, true))
		_exit(0);
	n = message_receive(opener, parts, 1 + received_count, fd, true);
	if (n < (ssize_t)sizeof(given))
		_exit(0);
	*size_bytes = n - sizeof(given);
	return given.err;
}

static int ask(int opener, const struct wanted *wanted, const char *path, void *bytes, size_t capacity_bytes,
	       size_t *size_bytes, int *fd)
{
	struct iovec sent[2] = {
		{ (void *)wanted, sizeof(*wanted) },
		{ (void *)path, strlen(path) + 1 },
	};
	struct iovec received = { bytes, capacity_bytes };

	*fd = -1;
	if (sent[1].iov_len > OPENER_PATH_BYTES)
		return -ENAMETOOLONG;
	return exchange(opener, sent, &received, 1, size_bytes, fd);
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

int given_pieces(int opener, uint32_t pid, struct memory_piece *pieces, size_t count, void *bytes)
{
	const struct wanted wanted = { .kind = WANTED_PIECES, .number = count, .pid = pid };
	struct iovec sent[2] = {
		{ (void *)&wanted, sizeof(wanted) },
		{ pieces, count * sizeof(*pieces) },
	};
	uint8_t is_read[MEMORY_PIECES_MAX / 8];
	size_t size_bytes = 0, given_bytes;
	struct iovec received[2] = { { is_read, sizeof(is_read) }, { bytes, 0 } };
	int fd, err;

	_Static_assert((int)MEMORY_PIECES_MAX == (int)OPENER_PIECES_MAX, "one bound");
	for (size_t i = 0; i < count && i < MEMORY_PIECES_MAX && size_bytes <= MEMORY_PIECES_BYTES_MAX; i++)
		size_bytes += pieces[i].size_bytes;
	if (count > MEMORY_PIECES_MAX || size_bytes > MEMORY_PIECES_BYTES_MAX)
		return -E2BIG;
	received[1].iov_len = size_bytes;
	err = exchange(opener, sent, received, 2, &given_bytes, &fd);
	if (fd >= 0)
		close(fd);
	if (err || given_bytes != sizeof(is_read) + size_bytes)
		return err ? err : -EFAULT;
	for (size_t i = 0; i < count; i++)
		pieces[i].is_read = is_read[i / 8] >> i % 8 & 1;
	return 0;
}
