// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A thread that spends nearly all of its time in system calls, for two functions, and one that computes now
 * and then. Known answer: fill_random(), for which the kernel makes random numbers, leads, before clear_pages().
 */
#include "code_log.h"

#include <sys/random.h>

enum { FILL_RANDOM, CLEAR_PAGES, MIX_BLOCK, RANDOM_BYTES = 1 << 16, PAGES_BYTES = 1 << 18 };

static const char *const names[] = { "fill_random", "clear_pages", "mix_block", NULL };

WORK(mix_block, MIX_BLOCK)

static OWN_FRAME void fill_random(void)
{
	static char random[RANDOM_BYTES];

	log_enter(FILL_RANDOM);
	for (int i = 0; i < 12; i++)
		if (getrandom(random, sizeof(random), 0) < 0)
			die("getrandom");
	log_leave();
	__asm__ volatile("" : : : "memory");
}

static OWN_FRAME void clear_pages(void)
{
	static char zeros[PAGES_BYTES];
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	log_enter(CLEAR_PAGES);
	for (int i = 0; i < 40; i++)
		if (read(fd, zeros, sizeof(zeros)) < 0)
			die("read");
	log_leave();
	close(fd);
}

static void run_caller(int number)
{
	(void)number;
	while (log_is_time()) {
		fill_random();
		clear_pages();
	}
}

static void run_mixer(int number)
{
	(void)number;
	while (log_is_time()) {
		mix_block(1000);
		pause_us(2000);
	}
}

int main(int argc, char **argv)
{
	struct role caller, mixer;

	log_open(argc, argv, names);
	role_start(&caller, "caller", run_caller, 0);
	role_start(&mixer, "mixer", run_mixer, 0);
	role_join_all(&caller, 1);
	role_join_all(&mixer, 1);
	return 0;
}
