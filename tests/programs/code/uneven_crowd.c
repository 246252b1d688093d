// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Six threads, of which one has twelve times the work of each other one between
 * two barriers. Known answer: big_share() leads: while it runs, the others wait for it most of the time.
 */
#include "code_log.h"

enum { BIG_SHARE, SMALL_SHARE, THREADS = 6 };

static const char *const names[] = { "big_share", "small_share", NULL };

static pthread_barrier_t barrier;
static bool is_over; /* changed between two barriers by one, read by all after the second */

WORK(big_share, BIG_SHARE)
WORK(small_share, SMALL_SHARE)

static void run(int number)
{
	do {
		if (number == 0)
			big_share(24000);
		else
			small_share(2000);
		pthread_barrier_wait(&barrier);
		if (number == 0)
			is_over = !log_is_time();
		pthread_barrier_wait(&barrier);
	} while (!is_over);
}

int main(int argc, char **argv)
{
	struct role threads[THREADS];

	log_open(argc, argv, names);
	pthread_barrier_init(&barrier, NULL, THREADS);
	role_start_all(threads, THREADS, "share-%d", run);
	role_join_all(threads, THREADS);
	return 0;
}
