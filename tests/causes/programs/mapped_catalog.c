// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mapped_catalog CGROUP_PROCS [cured]
 * Planted cause: two threads look at places of a mapped catalogue of 96 MB that are chosen at random. The process enters a
 * cgroup whose memory is limited to much less, which whoever starts this sees to. Cured: it does not enter it.
 * Known answer: memory: the cgroup's limit; what comes back is catalog.dat.
 */
#include "planted.h"

enum { THREADS = 2, CATALOG_BYTES = 96 << 20, PAGE_BYTES = 4096, PRICE_US = 20 };

static const volatile char *catalog;

static OWN_FRAME char look_up(unsigned page)
{
	return catalog[(size_t)page * PAGE_BYTES];
}

static OWN_FRAME void price_entry(void)
{
	burn_us(PRICE_US);
}

static void run(int number)
{
	unsigned page = number;

	for (;;) {
		page = (page * 1664525u + 1013904223u) % (CATALOG_BYTES / PAGE_BYTES);
		look_up(page);
		price_entry();
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];
	int fd;

	planted_open(argc, argv);
	if (!is_cured) {
		FILE *processes = fopen(argc > 1 ? argv[1] : "", "w");

		if (!processes || fprintf(processes, "%d\n", getpid()) < 0 || fclose(processes))
			die("cgroup.procs");
	}
	fd = planted_file("catalog.dat", CATALOG_BYTES);
	catalog = mmap(NULL, CATALOG_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (catalog == MAP_FAILED || madvise((void *)catalog, CATALOG_BYTES, MADV_RANDOM))
		die("mmap");
	role_start_all(threads, THREADS, "catalog-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
