/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/cpu_rings.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "collect/ring/ring_sizes.h"
#include "collect/ring/slot_ring.h"
#include "shared.h"
#include "pinch.skel.h"

enum { RINGS_A_CPU_MAX = 4 };

enum ring_kind { RING_MAIN, RING_SAMPLES, RING_SYSTEM, RING_KINDS };

/* What one CPU writes. */
struct cpu_ring {
	struct ring *rings[RING_KINDS];
	int fds[RING_KINDS];     /* of these */
	struct slot_ring *slots; /* switches and wake-ups */
};

struct cpu_rings {
	struct pinch_bpf *bpf;
	struct cpu_ring *cpus;
	unsigned int cpu_count;
	bool tells_system;
	struct ring_sizes sizes;
};

struct cpu_rings *cpu_rings_new(struct pinch_bpf *bpf, unsigned int cpu_count, size_t slots_bytes, bool tells_system)
{
	struct cpu_rings *rings = xcalloc(1, sizeof(*rings));

	rings->bpf = bpf;
	rings->cpu_count = cpu_count;
	rings->tells_system = tells_system;
	rings->sizes = ring_sizes_choose(cpu_count, slots_bytes);
	rings->cpus = xcalloc(cpu_count, sizeof(*rings->cpus));
	bpf->rodata->slot_mask = rings->sizes.slots - 1;
	bpf_map__set_max_entries(bpf->maps.slots, cpu_count * rings->sizes.slots);
	return rings;
}

void cpu_rings_free(struct cpu_rings *rings)
{
	if (!rings)
		return;
	for (unsigned int cpu = 0; cpu < rings->cpu_count; cpu++) {
		slot_ring_free(rings->cpus[cpu].slots);
		for (size_t i = 0; i < RING_KINDS; i++)
			if (rings->cpus[cpu].rings[i]) {
				ring_close(rings->cpus[cpu].rings[i]);
				close(rings->cpus[cpu].fds[i]);
			}
	}
	free(rings->cpus);
	free(rings);
}

static int add_ring(struct cpu_ring *cpu, enum ring_kind kind, size_t size_bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pinch_ring", 0, 0, size_bytes, NULL), err;

	if (fd < 0)
		return -errno;
	err = ring_open(fd, size_bytes, &cpu->rings[kind]);
	if (err)
		close(fd);
	else
		cpu->fds[kind] = fd;
	return err;
}

/*
 * Makes a ring for each CPU and puts them all in an array of maps: at once, for the kernel waits
 * after each change of such an array until no program can be using the old one, 10 ms and more.
 */
static int add_rings(struct cpu_rings *rings, enum ring_kind kind, struct bpf_map *array, size_t size_bytes)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t keys[KERNEL_CPUS_MAX], placed = rings->cpu_count;
	int fds[KERNEL_CPUS_MAX];

	for (unsigned int cpu = 0; cpu < rings->cpu_count; cpu++) {
		int err = add_ring(&rings->cpus[cpu], kind, size_bytes);

		if (err)
			return fail(err, "cannot make the ring buffer of CPU %u, of %zu bytes", cpu, size_bytes);
		keys[cpu] = cpu;
		fds[cpu] = rings->cpus[cpu].fds[kind];
	}
	if (bpf_map_update_batch(bpf_map__fd(array), keys, fds, &placed, &options))
		return fail(-errno, "cannot place the rings of %u CPUs", rings->cpu_count);
	return 0;
}

/* The slots of all CPUs are one map. */
static void add_slot_rings(struct cpu_rings *rings)
{
	uint64_t cpu_bytes = rings->sizes.slots * sizeof(struct slot);

	for (unsigned int cpu = 0; cpu < rings->cpu_count; cpu++)
		rings->cpus[cpu].slots = slot_ring_new(bpf_map__fd(rings->bpf->maps.slots), cpu * cpu_bytes,
						       rings->sizes.slots, &rings->bpf->bss->cpu_counts[cpu]);
}

/* Each ring has a descriptor. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int cpu_rings_make(struct cpu_rings *rings)
{
	int err;

	add_slot_rings(rings);
	allow_descriptors();
	err = add_rings(rings, RING_MAIN, rings->bpf->maps.rings, rings->sizes.main_bytes);
	if (!err)
		err = add_rings(rings, RING_SAMPLES, rings->bpf->maps.sample_rings, rings->sizes.sample_bytes);
	if (!err && rings->tells_system)
		err = add_rings(rings, RING_SYSTEM, rings->bpf->maps.system_rings, rings->sizes.main_bytes);
	return err;
}

static unsigned int rings_a_cpu(const struct cpu_rings *rings)
{
	return RINGS_A_CPU_MAX - !rings->tells_system;
}

unsigned int cpu_rings_count(const struct cpu_rings *rings)
{
	return rings_a_cpu(rings) * rings->cpu_count;
}

bool cpu_rings_drain(struct cpu_rings *rings, unsigned int i, ring_record_fn on_record, void *data)
{
	/* At the same time the session takes the first: a gap comes before the event that it ends at. */
	static const enum ring_kind kinds[RINGS_A_CPU_MAX] = {
		RING_MAIN,
		RING_KINDS,
		RING_SAMPLES,
		RING_SYSTEM,
	};
	const struct cpu_ring *cpu = &rings->cpus[i / rings_a_cpu(rings)];
	enum ring_kind kind = kinds[i % rings_a_cpu(rings)];

	if (kind == RING_KINDS)
		return slot_ring_drain(cpu->slots, on_record, data);
	return ring_drain(cpu->rings[kind], on_record, data);
}

static double more_of(double fill, const struct ring *ring, size_t size_bytes)
{
	double here = (double)ring_fill_bytes(ring) / size_bytes;

	return here > fill ? here : fill;
}

double cpu_rings_fill(const struct cpu_rings *rings)
{
	double fill = 0;

	for (unsigned int i = 0; i < rings->cpu_count; i++) {
		const struct cpu_ring *cpu = &rings->cpus[i];
		double slots = slot_ring_fill(cpu->slots);

		fill = slots > fill ? slots : fill;
		fill = more_of(fill, cpu->rings[RING_MAIN], rings->sizes.main_bytes);
		fill = more_of(fill, cpu->rings[RING_SAMPLES], rings->sizes.sample_bytes);
		if (rings->tells_system)
			fill = more_of(fill, cpu->rings[RING_SYSTEM], rings->sizes.main_bytes);
	}
	return fill;
}
