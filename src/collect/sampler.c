/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer interrupt costs 1 us on a bare machine and 50 to 100 us in some virtual ones, which
 * threads that hand a lock around feel at once. So samples are taken at the kernel's own ticks
 * when the period allows it (doc/decisions/0010).
 */
#include "collect/sampler.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/memory.h"
#include "collect/tick.h"

static const uint64_t TICK_NS_MAX = 4 * 1000 * 1000;

struct sampled_cpu {
	int fd, link_fd; /* -1: not sampled */
};

struct sampler {
	int expiry_link_fd;       /* -1: it could not be attached */
	bool is_at_ticks;         /* else timers are used */
	struct sampled_cpu *cpus; /* their timers */
	unsigned int cpu_count, opened;
	int err; /* of the last timer that could not be opened */
	char note[192];
};

uint64_t sampler_cheap_period(uint64_t wanted_ns)
{
	uint64_t tick_ns = tick_period_ns();

	if (!tick_ns || tick_ns > TICK_NS_MAX)
		return wanted_ns;
	if (wanted_ns <= tick_ns)
		return tick_ns;
	return (wanted_ns + tick_ns / 2) / tick_ns * tick_ns;
}

static struct sampler *sampler_new(unsigned int cpu_count)
{
	struct sampler *sampler = xcalloc(1, sizeof(*sampler));

	sampler->expiry_link_fd = -1;
	sampler->cpus = xcalloc(cpu_count, sizeof(*sampler->cpus));
	sampler->cpu_count = cpu_count;
	return sampler;
}

/* It does not run yet. */
static int open_timer(struct sampled_cpu *sampled, const struct bpf_program *program, unsigned int cpu,
		      uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.sample_type = PERF_SAMPLE_RAW,
		.disabled = 1,
	};

	sampled->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (sampled->fd < 0)
		return -errno;
	sampled->link_fd = bpf_link_create(bpf_program__fd(program), sampled->fd, BPF_PERF_EVENT, NULL);
	return sampled->link_fd < 0 ? -errno : 0;
}

static void open_timers(struct sampler *sampler, const struct bpf_program *program, uint64_t period_ns)
{
	for (unsigned int cpu = 0; cpu < sampler->cpu_count; cpu++) {
		int err;

		sampler->cpus[cpu] = (struct sampled_cpu){ -1, -1 };
		err = open_timer(&sampler->cpus[cpu], program, cpu, period_ns);
		if (!err)
			sampler->opened++;
		else if (err != -ENODEV) /* a possible CPU that is not there */
			sampler->err = err;
	}
}

bool sampler_is_at_ticks(const struct sampler *sampler)
{
	return sampler && sampler->is_at_ticks;
}

static void enable_timers(struct sampler *sampler)
{
	for (unsigned int cpu = 0; cpu < sampler->cpu_count; cpu++)
		if (sampler->cpus[cpu].link_fd >= 0 && ioctl(sampler->cpus[cpu].fd, PERF_EVENT_IOC_ENABLE, 0))
			sampler->err = -errno;
	if (!sampler_is_at_ticks(sampler) && (!sampler->opened || sampler->err))
		snprintf(sampler->note, sizeof(sampler->note),
			 "No samples on some CPUs (%s): tables of functions are incomplete.",
			 strerror(sampler->err ? -sampler->err : ENODEV));
}

struct sampler *sampler_start_timers(struct sampler_programs programs, uint64_t period_ns, unsigned int cpu_count)
{
	struct sampler *sampler = sampler_new(cpu_count);

	sampler->expiry_link_fd = bpf_raw_tracepoint_open(NULL, bpf_program__fd(programs.at_expiry));
	open_timers(sampler, programs.at_timer, period_ns);
	enable_timers(sampler);
	return sampler;
}

struct sampler *sampler_follow_ticks(struct sampler_programs programs, unsigned int cpu_count)
{
	struct sampler *sampler = sampler_new(cpu_count);

	sampler->expiry_link_fd = bpf_raw_tracepoint_open(NULL, bpf_program__fd(programs.at_expiry));
	sampler->is_at_ticks = sampler->expiry_link_fd >= 0;
	if (!sampler->is_at_ticks)
		snprintf(sampler->note, sizeof(sampler->note), "No samples (%s): tables of functions are missing.",
			 strerror(errno));
	open_timers(sampler, programs.at_timer, TICK_NS_MAX);
	return sampler;
}

void sampler_run_timers(struct sampler *sampler, uint64_t period_ns)
{
	for (unsigned int cpu = 0; cpu < sampler->cpu_count; cpu++)
		if (sampler->cpus[cpu].link_fd >= 0 && ioctl(sampler->cpus[cpu].fd, PERF_EVENT_IOC_PERIOD, &period_ns))
			sampler->err = -errno;
	enable_timers(sampler);
}

void sampler_leave_ticks(struct sampler *sampler)
{
	sampler->is_at_ticks = false;
	snprintf(sampler->note, sizeof(sampler->note), "%s",
		 "The program works in step with the kernel's tick: it was sampled by timers instead, and figures "
		 "of code come from their samples.");
}

void sampler_stop(struct sampler *sampler)
{
	if (!sampler)
		return;
	if (sampler->expiry_link_fd >= 0)
		close(sampler->expiry_link_fd);
	sampler->expiry_link_fd = -1;
	sampler->is_at_ticks = false;
	for (unsigned int cpu = 0; cpu < sampler->cpu_count; cpu++) {
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
