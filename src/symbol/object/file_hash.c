/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/object/file_hash.h"

#include <errno.h>
#include <unistd.h>
#include <xxhash.h>

enum { WHOLE_BYTES_MAX = 4 << 20, END_BYTES = 1 << 20, PAGE_BYTES = 4096, PAGES = 512, READ_BYTES = 16 << 10 };

/* What is cut off counts as its absence. */
static int add(XXH3_state_t *state, int fd, uint64_t at, uint64_t size_bytes)
{
	char bytes[READ_BYTES];

	while (size_bytes) {
		size_t wanted = size_bytes < sizeof(bytes) ? size_bytes : sizeof(bytes);
		ssize_t n = pread(fd, bytes, wanted, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		XXH3_128bits_update(state, bytes, n);
		at += n;
		size_bytes -= n;
	}
	return 0;
}

static int add_parts(XXH3_state_t *state, int fd, uint64_t size_bytes)
{
	uint64_t step = (size_bytes - 2 * END_BYTES) / PAGES;
	int err = add(state, fd, 0, END_BYTES);

	for (uint64_t i = 0; i < PAGES && !err; i++)
		err = add(state, fd, END_BYTES + i * step, PAGE_BYTES);
	return err ? err : add(state, fd, size_bytes - END_BYTES, END_BYTES);
}

int file_hash(int fd, uint64_t size_bytes, uint64_t hash[2])
{
	XXH3_state_t *state = XXH3_createState();
	XXH128_hash_t found;
	int err;

	if (!state || XXH3_128bits_reset(state) != XXH_OK) {
		XXH3_freeState(state);
		return -ENOMEM;
	}
	err = size_bytes <= WHOLE_BYTES_MAX ? add(state, fd, 0, size_bytes) : add_parts(state, fd, size_bytes);
	found = XXH3_128bits_digest(state);
	XXH3_freeState(state);
	hash[0] = found.low64;
	hash[1] = found.high64;
	return err;
}
