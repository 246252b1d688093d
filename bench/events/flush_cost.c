// SPDX-License-Identifier: GPL-2.0-or-later
/* flush_cost [ROUNDS]: how long trace_flush() of 8,000 events takes, and what it costs a thread that records meanwhile; in us. */
#include <pthread.h>
#include <stdatomic.h>

#include "pinchtrace.h"

#include "loops.h"

enum { EVENTS = 8000 };

static atomic_int is_flushing, is_over;
static double longest_ns[2]; /* gap between two events of the other thread: otherwise, during a flush */

static void *record(void *data)
{
	double before_ns = now_ns(), time_ns;
	uint32_t i = 0;

	while (!is_over) {
		int during = is_flushing;

		trace_event(1, 2, i++);
		time_ns = now_ns();
		if (time_ns - before_ns > longest_ns[during])
			longest_ns[during] = time_ns - before_ns;
		before_ns = time_ns;
	}
	return data;
}

int main(int argc, char **argv)
{
	static double all[ROUNDS_MAX];
	int rounds = argc > 1 ? rounds_of(argc, argv) : 50;
	pthread_t other;
	long events = 0;

	for (int i = 0; i < rounds; i++) {
		double begun_ns;

		for (uint32_t k = 0; k < EVENTS; k++)
			trace_event(1, 1, k);
		begun_ns = now_ns();
		events += trace_flush();
		all[i] = (now_ns() - begun_ns) / 1e3;
	}
	qsort(all, rounds, sizeof(*all), by_size);
	printf("trace_flush() of %d events: min %.0f, median %.0f, max %.0f us; %.0f ns an event\n", EVENTS, all[0],
	       all[rounds / 2], all[rounds - 1], all[rounds / 2] * 1e3 / EVENTS);
	if (pthread_create(&other, NULL, record, NULL))
		return 1;
	for (int i = 0; i < rounds; i++) {
		struct timespec pause = { .tv_nsec = 5000000 };

		nanosleep(&pause, NULL);
		is_flushing = 1;
		events += trace_flush();
		is_flushing = 0;
	}
	is_over = 1;
	pthread_join(other, NULL);
	printf("longest time between two events of another thread: %.1f us, during a flush %.1f us\n",
	       longest_ns[0] / 1e3, longest_ns[1] / 1e3);
	return events < (long)rounds * EVENTS;
}
