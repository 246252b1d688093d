/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clocks/cpu_clocks.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

enum { EXCHANGES = 2000, CPUS_CHECKED_MAX = 1024 };

/* For one CPU: others may keep it busy. */
static const uint64_t limit_ns = 100000000;

/*
 * Each word has one writer. A question is published by its number, after whatever came before; the answer likewise, after
 * its time: the acquire of one side pairs with the release of the other one.
 */
struct exchange {
	_Atomic uint32_t question; /* by the parent */
	_Alignas(64) _Atomic uint32_t answer;
	uint64_t time_ns; /* by the child, before the answer */
};

static int pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

static _Noreturn void answer(struct exchange *exchange, unsigned int cpu, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || pin(cpu))
		_exit(1);
	for (uint32_t number = 1;; number++) {
		while (atomic_load_explicit(&exchange->question, memory_order_acquire) != number)
			;
		exchange->time_ns = clock_ns();
		atomic_store_explicit(&exchange->answer, number, memory_order_release);
	}
}

/* How many samples there are, until the time is over. */
static size_t ask(struct exchange *exchange, struct clock_sample *samples)
{
	uint64_t until_ns = clock_ns() + limit_ns;

	for (size_t i = 0; i < EXCHANGES; i++) {
		struct clock_sample *sample = &samples[i];

		sample->t0 = clock_ns();
		atomic_store_explicit(&exchange->question, i + 1, memory_order_release);
		while (atomic_load_explicit(&exchange->answer, memory_order_acquire) != i + 1)
			if (clock_ns() > until_ns)
				return i;
		sample->t3 = clock_ns();
		sample->t1 = sample->t2 = exchange->time_ns;
	}
	return EXCHANGES;
}

void cpu_clocks_add(struct cpu_clocks *out, const struct clock_sample *samples, size_t count)
{
	int64_t low_ns = INT64_MIN, high_ns = INT64_MAX;
	uint64_t apart_ns, surplus_ns = 0;

	/* No answer is given before the question, nor comes before it was given: the offset is within all of that. */
	for (size_t i = 0; i < count; i++) {
		int64_t above_ns = samples[i].t1 - samples[i].t0, below_ns = samples[i].t2 - samples[i].t3;

		high_ns = above_ns < high_ns ? above_ns : high_ns;
		low_ns = below_ns > low_ns ? below_ns : low_ns;
	}
	if (low_ns > 0)
		surplus_ns = low_ns;
	else if (high_ns < 0)
		surplus_ns = -high_ns;
	apart_ns = -low_ns > high_ns ? -low_ns : high_ns;
	if (apart_ns < surplus_ns)
		apart_ns = surplus_ns;
	out->cpu_count++;
	out->apart_ns = apart_ns > out->apart_ns ? apart_ns : out->apart_ns;
	out->surplus_ns = surplus_ns > out->surplus_ns ? surplus_ns : out->surplus_ns;
}

static int measure_cpu(unsigned int cpu, struct exchange *exchange, struct cpu_clocks *out)
{
	struct clock_sample *samples;
	pid_t parent = getpid(), pid;
	size_t count;

	*exchange = (struct exchange){ 0 };
	pid = fork();
	if (!pid)
		answer(exchange, cpu, parent);
	if (pid < 0)
		return -errno;
	samples = xcalloc(EXCHANGES, sizeof(*samples));
	count = ask(exchange, samples);
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (count)
		cpu_clocks_add(out, samples, count);
	free(samples);
	return 0;
}

static int measure_all(const cpu_set_t *usable, struct exchange *exchange, struct cpu_clocks *out)
{
	unsigned int cpu = 0;
	int err;

	while (!CPU_ISSET(cpu, usable))
		cpu++;
	err = pin(cpu);
	while (!err && ++cpu < CPUS_CHECKED_MAX)
		if (CPU_ISSET(cpu, usable))
			err = measure_cpu(cpu, exchange, out);
	sched_setaffinity(0, sizeof(*usable), usable);
	return err;
}

int cpu_clocks_measure(struct cpu_clocks *out)
{
	struct exchange *exchange;
	cpu_set_t usable;
	int err;

	*out = (struct cpu_clocks){ 0 };
	if (sched_getaffinity(0, sizeof(usable), &usable))
		return -errno;
	if (CPU_COUNT(&usable) < 2)
		return -ENOENT;
	exchange = mmap(NULL, sizeof(*exchange), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (exchange == MAP_FAILED)
		return -errno;
	err = measure_all(&usable, exchange, out);
	munmap(exchange, sizeof(*exchange));
	return err;
}
