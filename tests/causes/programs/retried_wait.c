// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Planted cause: three threads wait for a report that one thread computes for 400 ms. They wait with a timeout of
 * 20 ms and try again: each of their waits looks like one that nobody ended. Cured: the report takes 40 ms.
 * Known answer: compute_report().
 */
#include "planted.h"

enum { READERS = 3, REPORT_US = 400000, CURED_US = 40000, TIMEOUT_NS = 20000000 };

static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t report_made = PTHREAD_COND_INITIALIZER;
static unsigned reports; /* owned by report_lock */

static OWN_FRAME void compute_report(void)
{
	burn_us(is_cured ? CURED_US : REPORT_US);
}

static OWN_FRAME void await_report(unsigned number)
{
	struct timespec until;

	pthread_mutex_lock(&report_lock);
	while (reports < number) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += TIMEOUT_NS;
		if (until.tv_nsec >= 1000000000) {
			until.tv_nsec -= 1000000000;
			until.tv_sec++;
		}
		pthread_cond_timedwait(&report_made, &report_lock, &until);
	}
	pthread_mutex_unlock(&report_lock);
}

static void run_reader(int number)
{
	(void)number;
	for (unsigned report = 1;; report++) {
		await_report(report);
		planted_done(1);
	}
}

int main(int argc, char **argv)
{
	struct role readers[READERS];

	planted_open(argc, argv);
	role_start_all(readers, READERS, "reader-%d", run_reader);
	for (;;) {
		compute_report();
		pthread_mutex_lock(&report_lock);
		reports++;
		pthread_cond_broadcast(&report_made);
		pthread_mutex_unlock(&report_lock);
	}
}
