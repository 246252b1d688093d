/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "collect/machine.h"
#include "shared.h"
#include "pinch.skel.h"

enum {
	RING_BYTES_DEFAULT = 4 << 20,
	RING_BYTES_MIN = 64 << 10,
	RINGS_TOTAL_BYTES = 256 << 20,	/* on large machines each ring gets its share of this */
	SAMPLE_RING_BYTES = 64 << 10,
};

struct kernel {
	struct pinch_bpf *bpf;
	struct ring **rings;
	unsigned int ring_count, cpu_count;
	size_t ring_bytes;
	struct bpf_link **sample_links;	/* by CPU */
	uint64_t sample_period_ns;
	struct bpf_link *iterator;
	int stats_fd;
	char sampling_note[160];
};

/* What libbpf last complained of: printed only when loading fails. */
static char libbpf_complaint[512];

static int libbpf_print(enum libbpf_print_level level, const char *format, va_list args)
{
	if (getenv("PINCH_LIBBPF_DEBUG"))
		return vfprintf(stderr, format, args);
	if (level == LIBBPF_WARN && !libbpf_complaint[0]) {
		vsnprintf(libbpf_complaint, sizeof(libbpf_complaint), format, args);
		libbpf_complaint[strcspn(libbpf_complaint, "\n")] = '\0';
	}
	return 0;
}

static size_t ring_bytes_for(const struct kernel_options *options, unsigned int cpu_count)
{
	size_t bytes = options->ring_bytes;

	if (bytes)
		return bytes;
	bytes = RING_BYTES_DEFAULT;
	while (bytes > RING_BYTES_MIN && bytes * cpu_count > RINGS_TOTAL_BYTES)
		bytes /= 2;
	return bytes;
}

/* Makes one ring, puts it in the array of rings at cpu and maps it. */
static int add_ring(int array_fd, uint32_t cpu, size_t size_bytes, struct ring **out)
{
	int fd, err;

	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pinch_ring", 0, 0, size_bytes, NULL);
	if (fd < 0)
		return fail(-errno, "cannot make a ring buffer of %zu bytes", size_bytes);
	if (bpf_map_update_elem(array_fd, &cpu, &fd, BPF_ANY)) {
		err = fail(-errno, "cannot place the ring buffer of CPU %u", cpu);
		goto out_close;
	}
	err = ring_open(fd, size_bytes, out);
	if (err)
		fail(err, "cannot map the ring buffer of CPU %u", cpu);
out_close:
	close(fd);	/* the array and the mapping hold it */
	return err;
}

static int make_rings(struct kernel *kernel)
{
	int main_fd = bpf_map__fd(kernel->bpf->maps.rings);
	int sample_fd = bpf_map__fd(kernel->bpf->maps.sample_rings);
	int err = 0;

	kernel->ring_count = 2 * kernel->cpu_count;
	kernel->rings = xcalloc(kernel->ring_count, sizeof(*kernel->rings));
	for (unsigned int cpu = 0; cpu < kernel->cpu_count && !err; cpu++) {
		err = add_ring(main_fd, cpu, kernel->ring_bytes, &kernel->rings[2 * cpu]);
		if (!err)
			err = add_ring(sample_fd, cpu, SAMPLE_RING_BYTES,
				       &kernel->rings[2 * cpu + 1]);
	}
	return err;
}

int kernel_open(const struct kernel_options *options, struct kernel **out)
{
	struct kernel *kernel;
	struct pinch_bpf *bpf;
	int err;

	kernel = xcalloc(1, sizeof(*kernel));
	kernel->stats_fd = -1;
	kernel->cpu_count = libbpf_num_possible_cpus();
	kernel->ring_bytes = ring_bytes_for(options, kernel->cpu_count);
	kernel->sample_period_ns = options->sample_period_ns;
	libbpf_set_print(libbpf_print);
	kernel->bpf = bpf = pinch_bpf__open();
	if (!bpf) {
		err = fail(-errno, "cannot open the BPF programs");
		goto out_close;
	}
	bpf->rodata->nmin = options->nmin;
	bpf->rodata->stack_depth = options->depth;
	bpf->rodata->kernel_stacks = options->kernel_stacks;
	bpf->rodata->threads_only = options->threads_only;
	bpf->rodata->processes_only = options->processes_only;
	bpf->rodata->trace_all = options->trace_all;
	bpf->rodata->own_pid = getpid();
	err = pinch_bpf__load(bpf);
	if (err) {
		if (!machine_explain_missing())
			fail(err, "the kernel refuses the BPF programs (%s)",
			     libbpf_complaint[0] ? libbpf_complaint : "no reason given");
		goto out_close;
	}
	malloc_trim(0);		/* the kernel's type information is large and done with */
	err = make_rings(kernel);
	if (err)
		goto out_close;
	*out = kernel;
	return 0;

out_close:
	kernel_close(kernel);
	return err;
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	kernel_detach(kernel);
	for (unsigned int i = 0; i < kernel->ring_count; i++)
		ring_close(kernel->rings[i]);
	free(kernel->rings);
	free(kernel->sample_links);
	pinch_bpf__destroy(kernel->bpf);
	free(kernel);
}

/* One software clock event on a CPU; it also ticks where there are no hardware counters. */
static int sample_cpu(struct kernel *kernel, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = kernel->sample_period_ns,
		.sample_type = PERF_SAMPLE_RAW,
	};
	struct bpf_link *link;
	int fd;

	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	link = bpf_program__attach_perf_event(kernel->bpf->progs.sample, fd);
	if (!link) {
		int err = -errno;

		close(fd);
		return err;
	}
	kernel->sample_links[cpu] = link;	/* owns fd */
	return 0;
}

static void start_sampling(struct kernel *kernel)
{
	unsigned int started = 0;
	int err = 0;

	if (!kernel->sample_period_ns)
		return;
	kernel->sample_links = xcalloc(kernel->cpu_count, sizeof(*kernel->sample_links));
	for (unsigned int cpu = 0; cpu < kernel->cpu_count; cpu++) {
		int e = sample_cpu(kernel, cpu);

		started += !e;
		if (e && e != -ENODEV)	/* a possible CPU that is not there */
			err = e;
	}
	if (!started || err)
		snprintf(kernel->sampling_note, sizeof(kernel->sampling_note),
			 "No samples on some CPUs (%s): tables of functions are incomplete.",
			 strerror(err ? -err : ENODEV));
}

int kernel_attach(struct kernel *kernel)
{
	struct pinch_bpf *bpf = kernel->bpf;
	int err;

	bpf_program__set_autoattach(bpf->progs.sample, false);
	bpf_program__set_autoattach(bpf->progs.list_threads, false);
	err = pinch_bpf__attach(bpf);
	if (err)
		return fail(err, "cannot attach to the scheduler's tracepoints (%s)",
			    libbpf_complaint);
	kernel->iterator = bpf_program__attach_iter(bpf->progs.list_threads, NULL);
	if (!kernel->iterator)
		return fail(-errno, "cannot list the kernel's threads");
	start_sampling(kernel);
	/* Our own cost is part of the report. Not counted where others switched counting off. */
	kernel->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return 0;
}

void kernel_detach(struct kernel *kernel)
{
	if (kernel->sample_links) {
		for (unsigned int cpu = 0; cpu < kernel->cpu_count; cpu++) {
			bpf_link__destroy(kernel->sample_links[cpu]);
			kernel->sample_links[cpu] = NULL;
		}
	}
	bpf_link__destroy(kernel->iterator);
	kernel->iterator = NULL;
	if (kernel->bpf)
		pinch_bpf__detach(kernel->bpf);
	if (kernel->stats_fd >= 0)
		close(kernel->stats_fd);
	kernel->stats_fd = -1;
}

static int set_target(struct kernel *kernel, uint32_t pid, uint32_t kind)
{
	int fd = bpf_map__fd(kernel->bpf->maps.targets);

	if (bpf_map_update_elem(fd, &pid, &kind, BPF_ANY))
		return fail(-errno, "cannot make process %u a target", pid);
	return 0;
}

int kernel_add_target(struct kernel *kernel, uint32_t pid)
{
	return set_target(kernel, pid, TARGET_EXISTING);
}

int kernel_add_command(struct kernel *kernel, uint32_t pid)
{
	return set_target(kernel, pid, TARGET_EXEC);
}

int kernel_list_threads(struct kernel *kernel)
{
	char nothing[64];
	ssize_t n;
	int fd, err = 0;

	fd = bpf_iter_create(bpf_link__fd(kernel->iterator));
	if (fd < 0)
		return fail(-errno, "cannot list the kernel's threads");
	do
		n = read(fd, nothing, sizeof(nothing));
	while (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)));
	if (n < 0)
		err = fail(-errno, "cannot list the kernel's threads");
	close(fd);
	return err;
}

unsigned int kernel_ring_count(const struct kernel *kernel)
{
	return kernel->ring_count;
}

struct ring *kernel_ring(const struct kernel *kernel, unsigned int i)
{
	return kernel->rings[i];
}

size_t kernel_ring_bytes(const struct kernel *kernel)
{
	return kernel->ring_bytes;
}

void kernel_set_keep_all_above(struct kernel *kernel, uint32_t weight_ns)
{
	kernel->bpf->bss->keep_all_above_ns = weight_ns;
}

size_t kernel_program_costs(const struct kernel *kernel, struct kernel_program_cost *costs,
			    size_t max)
{
	struct bpf_program *program;
	size_t count = 0;

	bpf_object__for_each_program(program, kernel->bpf->obj) {
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (count == max || bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			break;
		costs[count++] = (struct kernel_program_cost){
			bpf_program__name(program), info.run_time_ns, info.run_cnt };
	}
	return count;
}

struct kernel_counts kernel_counts(const struct kernel *kernel)
{
	struct kernel_counts counts = { 0 };

	for (unsigned int cpu = 0; cpu < kernel->cpu_count; cpu++) {
		counts.lost += kernel->bpf->bss->cpu_counts[cpu].lost;
		counts.stacks += kernel->bpf->bss->cpu_counts[cpu].stacks;
		counts.samples_lost += kernel->bpf->bss->cpu_counts[cpu].samples_lost;
	}
	counts.threads_alive = kernel->bpf->bss->threads_alive;
	counts.threads_untracked = kernel->bpf->bss->threads_untracked;
	return counts;
}

const char *kernel_sampling_note(const struct kernel *kernel)
{
	return kernel->sampling_note[0] ? kernel->sampling_note : NULL;
}
