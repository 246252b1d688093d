// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the programs of the catalogue share. Each runs until it is killed and prints, ten times a second at most, how
 * many units of its work are done. With `cured` as the last argument the planted cause is missing: the two rates prove
 * that it is what holds the work back.
 */
#pragma once

#include "../../programs/roles.h"
#include <stdbool.h>
#include <sys/mman.h>

/* Shared by all processes of the program. */
struct planted {
	uint64_t count, printed_ns; /* atomic */
};

enum { PLANTED_PERIOD_NS = 100000000 };

static struct planted *planted;
static bool is_cured;

static inline void planted_open(int argc, char **argv)
{
	planted = (struct planted *)mmap(NULL, sizeof(*planted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
					 0);
	if (planted == MAP_FAILED)
		die("mmap");
	is_cured = argc > 1 && !strcmp(argv[argc - 1], "cured");
}

/* Of any thread: count units of work are done. */
static inline void planted_done(uint64_t count)
{
	uint64_t total = __atomic_add_fetch(&planted->count, count, __ATOMIC_RELAXED);
	uint64_t printed_ns = __atomic_load_n(&planted->printed_ns, __ATOMIC_RELAXED), at_ns = now_ns();

	if (at_ns >= printed_ns + PLANTED_PERIOD_NS &&
	    __atomic_compare_exchange_n(&planted->printed_ns, &printed_ns, at_ns, false, __ATOMIC_RELAXED,
					__ATOMIC_RELAXED))
		dprintf(STDOUT_FILENO, "%llu\n", (unsigned long long)total);
}

/* Runs until the thread has had that much more of a CPU. */
static inline void burn_us(unsigned length_us)
{
	uint64_t end_ns = cpu_time_ns() + length_us * 1000ull, x = end_ns;
	volatile uint64_t sink;

	do {
		for (int i = 0; i < 4000; i++)
			x = x * 6364136223846793005ull + 1442695040888963407ull;
	} while (cpu_time_ns() < end_ns);
	sink = x;
	(void)sink;
}

/* A file in the current directory that has size_bytes and lies on the disk. */
static inline int planted_file(const char *name, size_t size_bytes)
{
	static char block[1 << 20];
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);

	memset(block, 'c', sizeof(block));
	if (fd < 0)
		die(name);
	for (size_t at = 0; at < size_bytes; at += sizeof(block))
		if (write(fd, block, sizeof(block)) != sizeof(block))
			die(name);
	if (fsync(fd))
		die(name);
	return fd;
}
