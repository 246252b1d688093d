// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: a store of 1 GB forks for each snapshot, ten times a second: the kernel copies its page tables, and
 * requests wait meanwhile. Cured: a store of 1 MB.
 * Known answer: take_snapshot(), which forks.
 */
#include "planted.h"

#include <sys/wait.h>

enum { REQUEST_US = 200, PERIOD_US = 50000, SMALL_BYTES = 1 << 20 };

static const size_t large_bytes = (size_t)1 << 30;

static OWN_FRAME void take_snapshot(void)
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
}

static OWN_FRAME void answer_request(void)
{
	burn_us(REQUEST_US);
	planted_done(1);
}

int main(int argc, char **argv)
{
	uint64_t next_ns;
	size_t size_bytes;
	char *store;

	planted_open(argc, argv);
	size_bytes = is_cured ? SMALL_BYTES : large_bytes;
	store = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (store == MAP_FAILED)
		die("mmap");
	madvise(store, size_bytes, MADV_NOHUGEPAGE);
	memset(store, 1, size_bytes);
	for (next_ns = now_ns();;) {
		if (now_ns() >= next_ns) {
			take_snapshot();
			next_ns = now_ns() + PERIOD_US * 1000ull;
		}
		answer_request();
	}
}
