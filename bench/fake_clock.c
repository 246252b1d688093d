// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake_clock.h"

#include <stdbool.h>

#include "base/clock.h"

static struct {
	uint64_t begin_ns, napped_ns;
	uint64_t used_ns; /* before it went on last */
	uint64_t from_ns; /* of this process's CPU time: then */
	bool is_running;
} fake;

static uint64_t cpu_time_ns(void)
{
	struct timespec spent;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
	return spent.tv_sec * 1000000000ull + spent.tv_nsec;
}

void fake_clock_begin(uint64_t now_ns)
{
	fake.begin_ns = now_ns;
	fake.napped_ns = fake.used_ns = 0;
	fake.is_running = false;
}

void fake_clock_go_on(void)
{
	fake.is_running = true;
	fake.from_ns = cpu_time_ns();
}

void fake_clock_stop(void)
{
	fake.used_ns = clock_cpu_ns();
	fake.is_running = false;
}

void fake_clock_nap(uint64_t nap_ns)
{
	fake.napped_ns += nap_ns;
}

int clock_begin(void)
{
	return 0;
}

int64_t clock_shift_ns(void)
{
	return 0;
}

uint64_t clock_cpu_ns(void)
{
	return fake.used_ns + (fake.is_running ? cpu_time_ns() - fake.from_ns : 0);
}

uint64_t clock_ns(void)
{
	return fake.begin_ns + fake.napped_ns + clock_cpu_ns();
}

time_t clock_seconds(void)
{
	return clock_ns() / 1000000000;
}

uint64_t clock_suspended_ns(void)
{
	return 0;
}
