// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * event_rate THREADS MILLISECONDS RATE: each thread does so much work, with an event each 1/RATE s of it (RATE in events a second
 * and thread; 0: none), and prints how long all of it took, in ns. Built with -DPINCH_TRACE_OFF, the same work without events.
 */
#include <pthread.h>

#include "pinchtrace.h"

#include "loops.h"

static uint64_t units, steps_a_unit;

/* A step is about 1 ns, whatever the clock says: each waits for the one before. */
static inline uint64_t work(uint64_t x, uint64_t steps)
{
	for (uint64_t i = 0; i < steps; i++) {
		x = x * 6364136223846793005ull + 1442695040888963407ull;
		keep(x);
	}
	return x;
}

static void *run(void *data)
{
	uint64_t x = 1;

	for (uint64_t i = 0; i < units; i++) {
		x = work(x, steps_a_unit);
		trace_event(1, 2, (uint32_t)i);
	}
	keep(x);
	return data;
}

static double ns_a_step(void)
{
	double best = 1e9;

	for (int i = 0; i < 20; i++) {
		double begun = now_ns();

		work(1, 1000000);
		if (now_ns() - begun < best)
			best = now_ns() - begun;
	}
	return best / 1e6;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int thread_count = argc > 1 ? atoi(argv[1]) : 0;
	double work_ns = argc > 2 ? atof(argv[2]) * 1e6 : 0, rate = argc > 3 ? atof(argv[3]) : -1, begun_ns;

	if (thread_count < 1 || thread_count > 64 || work_ns <= 0 || rate < 0) {
		fprintf(stderr, "usage: event_rate THREADS(1 to 64) MILLISECONDS RATE\n");
		return 2;
	}
	/* Without events, in units as long as those of 1,000 events a second. */
	steps_a_unit = 1e9 / (rate ? rate : 1000) / ns_a_step();
	if (!rate)
		trace_disable_all();
	units = work_ns / (steps_a_unit * ns_a_step());
	begun_ns = now_ns();
	for (int i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	printf("%.0f %.0f\n", now_ns() - begun_ns, units * (double)thread_count);
	return 0;
}
