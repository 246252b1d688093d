// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * USDT probes that are hit so often, with such values: prints what it has done, a line a word and a number.
 *
 *   usdt_hits values COUNT    hits usdt_hits:values with values of all sizes, of registers, constants and memory
 *   usdt_hits guarded COUNT   hits usdt_hits:guarded, if its semaphore says that somebody traces it
 *   usdt_hits library COUNT   hits usdt_library:call, once after each line of the input, and says what the semaphore of guarded is
 *   usdt_hits sites COUNT     hits usdt_hits:site, at two sites of different types, by turns
 *   usdt_hits cost COUNT      hits usdt_hits:cost; prints the nanoseconds that each took
 */
#define _SDT_HAS_SEMAPHORES 1
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sdt.h>
#include <time.h>

void library_call(unsigned number);

/* Where the macros look for it; the others have one that nobody reads. */
#define SEMAPHORE(name) \
	__extension__ unsigned short usdt_hits_##name##_semaphore __attribute__((section(".probes"), used))

SEMAPHORE(values);
SEMAPHORE(guarded);
SEMAPHORE(site);
SEMAPHORE(cost);
SEMAPHORE(floating);

static volatile int32_t negatives[16];
static volatile double half = 0.5;

__attribute__((noinline)) static void hit_values(unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		volatile int64_t on_stack = -5 - (int64_t)i;
		volatile uint16_t small = i;
		int8_t byte = -(int)(i % 100);

		negatives[i % 16] = -7;
		STAP_PROBE8(usdt_hits, values, i, on_stack, 77, -3, small, byte, negatives[i % 16], (uint64_t)i << 40);
		STAP_PROBE2(usdt_hits, floating, half, i);
	}
	printf("values %u\n", count);
}

static void hit_guarded(unsigned count)
{
	unsigned hits = 0;

	for (unsigned i = 0; i < count; i++)
		if (*(volatile unsigned short *)&usdt_hits_guarded_semaphore) {
			STAP_PROBE1(usdt_hits, guarded, i);
			hits++;
		}
	printf("guarded %u\n", hits);
}

static void hit_library(unsigned count)
{
	char line[64];

	for (unsigned i = 0; i < count && fgets(line, sizeof(line), stdin); i++) {
		library_call(i);
		printf("library %u %u\n", i, (unsigned)*(volatile unsigned short *)&usdt_hits_guarded_semaphore);
		fflush(stdout);
	}
}

static void hit_sites(unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		if (i & 1)
			STAP_PROBE1(usdt_hits, site, (int)-i);
		else
			STAP_PROBE1(usdt_hits, site, (uint64_t)i);
	printf("site %u\n", count);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void hit_cost(unsigned count)
{
	uint64_t begin_ns = now_ns();

	for (unsigned i = 0; i < count; i++)
		STAP_PROBE2(usdt_hits, cost, i, &begin_ns);
	printf("ns %.1f\n", (double)(now_ns() - begin_ns) / count);
}

int main(int argc, char **argv)
{
	unsigned count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	const char *what = argc == 3 ? argv[1] : "";

	if (!strcmp(what, "values"))
		hit_values(count);
	else if (!strcmp(what, "guarded"))
		hit_guarded(count);
	else if (!strcmp(what, "library"))
		hit_library(count);
	else if (!strcmp(what, "sites"))
		hit_sites(count);
	else if (!strcmp(what, "cost"))
		hit_cost(count);
	else
		return 2;
	return 0;
}
