/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer interrupt costs 1 us on a bare machine and 50 to 100 us in some virtual ones, which
 * threads that hand a lock around feel at once. It disturbs least right after the kernel's own
 * tick, which has interrupted them anyway (doc/decisions/0010).
 */
#include "collect/sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"

/* How long after a tick the sampling timers are started, so long after ticks they expire. */
static const uint64_t AFTER_TICK_NS = 60 * 1000;

static const uint64_t TICK_NS_MAX = 4 * 1000 * 1000;
/* Large machines do not wait for each CPU's tick in turn: the others sample out of step. */
static const uint64_t ALIGNING_NS_MAX = 60 * 1000 * 1000;

struct sampled_cpu {
	int fd, link_fd;	/* -1: not sampled */
};

struct sampler {
	struct sampled_cpu *cpus;
	unsigned int cpu_count;
	uint64_t period_ns;
	char note[160];
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

/* The coarse clock advances at each tick: its resolution is the tick's period. */
static uint64_t tick_period_ns(void)
{
	struct timespec resolution;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution))
		return 0;
	return resolution.tv_sec * 1000000000ull + resolution.tv_nsec;
}

uint64_t sampler_cheap_period(uint64_t wanted_ns)
{
	uint64_t tick_ns = tick_period_ns();

	if (!tick_ns || tick_ns > TICK_NS_MAX)
		return wanted_ns;
	if (wanted_ns <= tick_ns)
		return tick_ns;
	return (wanted_ns + tick_ns / 2) / tick_ns * tick_ns;
}

/*
 * When a CPU's next tick is due, modulo its period, as /proc/timer_list tells: a CPU's timers
 * follow its line "cpu: N", each with its function and then "expires at FROM-TO nsecs".
 * -ENOENT: not known, or it has no tick at the moment.
 */
static int tick_phase(unsigned int cpu, uint64_t tick_ns, uint64_t *phase_ns)
{
	FILE *file = fopen("/proc/timer_list", "re");
	unsigned int at = ~0u;
	bool is_tick = false;
	int err = -ENOENT;
	char line[256];

	while (file && err && fgets(line, sizeof(line), file)) {
		unsigned long long expires_ns;

		if (sscanf(line, "cpu: %u", &at) == 1)
			continue;
		if (sscanf(line, " # expires at %llu", &expires_ns) != 1) {
			is_tick = strstr(line, "tick_nohz_handler") ||
				  strstr(line, "tick_sched_timer");
		} else if (at == cpu && is_tick) {
			*phase_ns = expires_ns % tick_ns;
			err = 0;
		}
	}
	if (file)
		fclose(file);
	return err;
}

static int open_cpu(struct sampler *sampler, const struct bpf_program *program, unsigned int cpu)
{
	struct sampled_cpu *sampled = &sampler->cpus[cpu];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = sampler->period_ns,
		.sample_type = PERF_SAMPLE_RAW,
		.disabled = 1,
	};

	sampled->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (sampled->fd < 0)
		return -errno;
	sampled->link_fd = bpf_link_create(bpf_program__fd(program), sampled->fd, BPF_PERF_EVENT,
					   NULL);
	return sampled->link_fd < 0 ? -errno : 0;
}

/* Waits for the moment, on the CPU itself so that no time is lost on the way there. */
static void wait_for_tick(const struct sampler *sampler, unsigned int cpu, uint64_t tick_ns)
{
	uint64_t phase_ns, now, due_ns;
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (!tick_ns || sampler->period_ns % tick_ns || sched_setaffinity(0, sizeof(one), &one) ||
	    tick_phase(cpu, tick_ns, &phase_ns))
		return;
	now = clock_ns();
	due_ns = now + tick_ns - (now - phase_ns) % tick_ns + AFTER_TICK_NS;
	while (clock_ns() < due_ns)
		;
}

struct sampler *sampler_start(const struct bpf_program *program, uint64_t period_ns,
			      unsigned int cpu_count)
{
	struct sampler *sampler = xcalloc(1, sizeof(*sampler));
	uint64_t tick_ns = tick_period_ns(), begin_ns = clock_ns();
	unsigned int started = 0;
	cpu_set_t before;
	int err = 0;

	sampler->cpus = xcalloc(cpu_count, sizeof(*sampler->cpus));
	sampler->cpu_count = cpu_count;
	sampler->period_ns = period_ns;
	sched_getaffinity(0, sizeof(before), &before);
	for (unsigned int cpu = 0; cpu < cpu_count; cpu++) {
		int e;

		sampler->cpus[cpu] = (struct sampled_cpu){ -1, -1 };
		e = open_cpu(sampler, program, cpu);
		if (e) {
			if (e != -ENODEV)	/* a possible CPU that is not there */
				err = e;
			continue;
		}
		if (clock_ns() - begin_ns < ALIGNING_NS_MAX)
			wait_for_tick(sampler, cpu, tick_ns);
		ioctl(sampler->cpus[cpu].fd, PERF_EVENT_IOC_ENABLE, 0);
		started++;
	}
	sched_setaffinity(0, sizeof(before), &before);
	if (!started || err)
		snprintf(sampler->note, sizeof(sampler->note),
			 "No samples on some CPUs (%s): tables of functions are incomplete.",
			 strerror(err ? -err : ENODEV));
	return sampler;
}

void sampler_stop(struct sampler *sampler)
{
	for (unsigned int cpu = 0; sampler && cpu < sampler->cpu_count; cpu++) {
		struct sampled_cpu *sampled = &sampler->cpus[cpu];

		if (sampled->link_fd >= 0)
			close(sampled->link_fd);
		if (sampled->fd >= 0)
			close(sampled->fd);
		*sampled = (struct sampled_cpu){ -1, -1 };
	}
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	sampler_stop(sampler);
	free(sampler->cpus);
	free(sampler);
}

const char *sampler_note(const struct sampler *sampler)
{
	return sampler && sampler->note[0] ? sampler->note : NULL;
}
