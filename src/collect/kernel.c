/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "session/syscalls.h"
#include "collect/acquisitions.h"
#include "collect/iterator.h"
#include "collect/klocks.h"
#include "collect/machine.h"
#include "collect/percpu.h"
#include "collect/sampler.h"
#include "collect/slot_ring.h"
#include "collect/spans.h"
#include "collect/system.h"
#include "collect/tick.h"
#include "shared.h"
#include "pinch.skel.h"

enum {
	SLOTS_BYTES_DEFAULT = 4 << 20,	/* a CPU; rounded down to a power of two of slots */
	SLOTS_BYTES_MIN = 256 << 10,
	SLOTS_TOTAL_BYTES = 256 << 20,	/* on large machines each CPU gets its share of this */
	RING_SHARE = 2,			/* the other records' ring is this much smaller */
	RING_BYTES_MIN = 4 << 10,
	SAMPLE_RING_BYTES = 64 << 10,
	RINGS_A_CPU_MAX = 4,
	RESOLVERS_MAX = 256,		/* C libraries of containers */
	FUNCTION_PLACES_MAX = 16384,	/* of spans, in all files */
	MEMORY_AT_ONCE = 1000,
};

enum ring_kind { RING_MAIN, RING_SAMPLES, RING_SYSTEM, RING_KINDS };

/* What one CPU writes. */
struct cpu_rings {
	struct ring *rings[RING_KINDS];
	struct slot_ring *slots;	/* switches and wake-ups */
};

struct kernel {
	struct pinch_bpf *bpf;
	struct cpu_rings *cpus;
	unsigned int cpu_count;
	bool tells_system;
	uint32_t slot_count;		/* a CPU */
	const struct slot *slots;	/* of all CPUs */
	size_t slots_bytes;
	size_t ring_bytes;		/* of the main ones */
	struct ring *bell;
	struct sampler *sampler;
	uint64_t sample_period_ns;
	struct bpf_link *iterator, *waits_iterator;
	const struct klock_spec *acquisitions_spec;	/* NULL: they are not counted */
	struct acquisitions *acquisitions;
	struct bpf_link *resolvers[RESOLVERS_MAX][2];
	size_t resolver_count;
	struct bpf_link **function_links;	/* of spans */
	size_t function_link_count, function_link_room;
};

static const char list_of_threads[] = "the kernel's threads";

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

static void choose_sizes(struct kernel *kernel, size_t slots_bytes)
{
	if (!slots_bytes) {
		slots_bytes = SLOTS_BYTES_DEFAULT;
		while (slots_bytes > SLOTS_BYTES_MIN &&
		       slots_bytes * kernel->cpu_count > SLOTS_TOTAL_BYTES)
			slots_bytes /= 2;
	}
	kernel->slot_count = 1;
	while (2 * kernel->slot_count * sizeof(struct slot) <= slots_bytes)
		kernel->slot_count *= 2;
	kernel->ring_bytes = slots_bytes / RING_SHARE;
	if (kernel->ring_bytes < RING_BYTES_MIN)
		kernel->ring_bytes = RING_BYTES_MIN;
}

static void free_cpu(struct cpu_rings *cpu)
{
	slot_ring_free(cpu->slots);
	for (size_t i = 0; i < RING_KINDS; i++)
		ring_close(cpu->rings[i]);
}

/*
 * Makes a ring for each CPU and puts them all in an array of maps: at once, for the kernel waits
 * after each change of such an array until no program can be using the old one, 10 ms and more.
 */
static int add_rings(struct kernel *kernel, enum ring_kind kind, struct bpf_map *array,
		     size_t size_bytes)
{
	LIBBPF_OPTS(bpf_map_batch_opts, options);
	uint32_t keys[CPUS_MAX], made = 0, placed = kernel->cpu_count;
	int fds[CPUS_MAX], err = 0;

	while (made < kernel->cpu_count && !err) {
		int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "pinch_ring", 0, 0, size_bytes, NULL);

		if (fd < 0) {
			err = fail(-errno, "cannot make a ring buffer of %zu bytes", size_bytes);
			break;
		}
		err = ring_open(fd, size_bytes, &kernel->cpus[made].rings[kind]);
		if (err)
			fail(err, "cannot map the ring buffer of CPU %u", made);
		keys[made] = made;
		fds[made++] = fd;
	}
	if (!err && bpf_map_update_batch(bpf_map__fd(array), keys, fds, &placed, &options))
		err = fail(-errno, "cannot place the rings of %u CPUs", kernel->cpu_count);
	while (made)
		close(fds[--made]);	/* the array and the mapping hold it */
	return err;
}

/* The slots of all CPUs are one map. */
static int add_slot_rings(struct kernel *kernel)
{
	size_t page_bytes = sysconf(_SC_PAGESIZE), cpu_bytes = kernel->slot_count * sizeof(struct slot);
	const struct slot *slots;

	kernel->slots_bytes = (kernel->cpu_count * cpu_bytes + page_bytes - 1) & -page_bytes;
	slots = mmap(NULL, kernel->slots_bytes, PROT_READ, MAP_SHARED,
		     bpf_map__fd(kernel->bpf->maps.slots), 0);
	if (slots == MAP_FAILED)
		return fail(-errno, "cannot map the CPUs' rings of %zu bytes", cpu_bytes);
	kernel->slots = slots;
	for (unsigned int cpu = 0; cpu < kernel->cpu_count; cpu++)
		kernel->cpus[cpu].slots = slot_ring_new(slots + cpu * kernel->slot_count,
							kernel->slot_count,
							&kernel->bpf->bss->cpu_counts[cpu]);
	return 0;
}

static int make_rings(struct kernel *kernel)
{
	int err;

	kernel->cpus = xcalloc(kernel->cpu_count, sizeof(*kernel->cpus));
	err = ring_open(bpf_map__fd(kernel->bpf->maps.bell),
			bpf_map__max_entries(kernel->bpf->maps.bell), &kernel->bell);
	if (err)
		return fail(err, "cannot map a ring buffer");
	err = add_slot_rings(kernel);
	if (!err)
		err = add_rings(kernel, RING_MAIN, kernel->bpf->maps.rings, kernel->ring_bytes);
	if (!err)
		err = add_rings(kernel, RING_SAMPLES, kernel->bpf->maps.sample_rings,
				SAMPLE_RING_BYTES);
	if (!err && kernel->tells_system)
		err = add_rings(kernel, RING_SYSTEM, kernel->bpf->maps.system_rings,
				kernel->ring_bytes);
	return err;
}

/* At the kernel's ticks if the period allows it, or else by timers. */
static void choose_sampling(struct kernel *kernel, const struct btf *btf)
{
	struct pinch_bpf *bpf = kernel->bpf;
	uint64_t tick_ns = tick_period_ns();
	struct tick_places places;

	if (kernel->sample_period_ns && tick_ns && kernel->sample_period_ns % tick_ns == 0 &&
	    btf && !tick_find(btf, &places)) {
		bpf->rodata->sample_each_ticks = kernel->sample_period_ns / tick_ns;
		bpf->rodata->hrtimer_bases_offset = places.hrtimer_bases;
		bpf->rodata->tick_cpu_sched_offset = places.tick_cpu_sched;
		bpf->rodata->irq_regs_offset = places.irq_regs;
	}
	bpf_program__set_autoload(bpf->progs.sample_tick, bpf->rodata->sample_each_ticks);
}

/* Without it, wake-ups by interrupts are taken for the work of whom they interrupt. */
static void choose_context(struct kernel *kernel, const struct btf *btf)
{
	uint32_t runqueues, preempt_count;

	if (!btf || !percpu_find(btf, "runqueues", &runqueues) ||
	    !percpu_find_preempt_count(btf, &preempt_count))
		return;
	kernel->bpf->rodata->runqueues_offset = runqueues;
	kernel->bpf->rodata->preempt_count_offset = preempt_count;
}

/* What depends on the kernel, as its type information tells it; without that, loading will say so. */
static void choose_programs(struct kernel *kernel)
{
	struct btf *btf = btf__load_vmlinux_btf();

	choose_sampling(kernel, btf);
	choose_context(kernel, btf);
	bpf_program__set_autoload(kernel->bpf->progs.exit_begin, btf && machine_exit_is_late(btf));
	/* Without it, a wait in a page fault does not say of which file. */
	bpf_program__set_autoload(kernel->bpf->progs.page_fault, btf && machine_tells_faults(btf));
	btf__free(btf);
}

int kernel_open(const struct kernel_options *options, struct kernel **out)
{
	struct kernel *kernel;
	struct pinch_bpf *bpf;
	int cpu_count, err;

	cpu_count = libbpf_num_possible_cpus();
	if (cpu_count < 0)
		return fail(cpu_count, "cannot count the CPUs");
	if (cpu_count > CPUS_MAX)
		return fail_plain(-E2BIG, "this machine may have %d CPUs; pinch knows %d at most",
				  cpu_count, CPUS_MAX);
	if (options->acquisitions && !machine_has_kprobes())
		return fail_plain(-EOPNOTSUPP, "--acquisitions needs kprobes, which this kernel has not "
				  "(CONFIG_KPROBE_EVENTS); without it, locks are told when they are waited for");
	kernel = xcalloc(1, sizeof(*kernel));
	kernel->cpu_count = cpu_count;
	choose_sizes(kernel, options->ring_bytes);
	kernel->sample_period_ns = options->sample_period_ns;
	kernel->tells_system = options->tells_system;
	kernel->acquisitions_spec = options->acquisitions;
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
	bpf->rodata->follows_hosts = options->follows_hosts;
	bpf_program__set_autoload(bpf->progs.resolve_begin, options->follows_hosts);
	bpf_program__set_autoload(bpf->progs.resolve_end, options->follows_hosts);
	bpf->rodata->own_pid = getpid();
	bpf->rodata->slot_mask = kernel->slot_count - 1;
	for (uint32_t number = 0; number < SYSCALLS_MAX; number++)
		bpf->rodata->wait_arguments[number] = syscall_argument(number);
	bpf_map__set_max_entries(bpf->maps.slots, kernel->cpu_count * kernel->slot_count);
	system_choose(bpf, kernel->tells_system);
	spans_choose(bpf, options->spans);
	acquisitions_choose(bpf, options->acquisitions);
	choose_programs(kernel);
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
	for (unsigned int cpu = 0; kernel->cpus && cpu < kernel->cpu_count; cpu++)
		free_cpu(&kernel->cpus[cpu]);
	free(kernel->cpus);
	ring_close(kernel->bell);
	if (kernel->slots)
		munmap((void *)kernel->slots, kernel->slots_bytes);
	free(kernel->function_links);
	sampler_free(kernel->sampler);
	acquisitions_free(kernel->acquisitions);
	pinch_bpf__destroy(kernel->bpf);
	free(kernel);
}

int kernel_attach(struct kernel *kernel)
{
	struct pinch_bpf *bpf = kernel->bpf;
	int err;

	bpf_program__set_autoattach(bpf->progs.sample_timer, false);
	bpf_program__set_autoattach(bpf->progs.sample_tick, false);
	bpf_program__set_autoattach(bpf->progs.list_threads, false);
	bpf_program__set_autoattach(bpf->progs.list_waits, false);
	bpf_program__set_autoattach(bpf->progs.list_queues, false);
	bpf_program__set_autoattach(bpf->progs.acquire_call, false);
	bpf_program__set_autoattach(bpf->progs.acquire_return, false);
	bpf_program__set_autoattach(bpf->progs.list_holds, false);
	bpf_program__set_autoattach(bpf->progs.exit_begin, false);
	bpf_program__set_autoattach(bpf->progs.resolve_begin, false);
	bpf_program__set_autoattach(bpf->progs.resolve_end, false);
	bpf_program__set_autoattach(bpf->progs.span_function_begin, false);
	bpf_program__set_autoattach(bpf->progs.span_function_end, false);
	err = klocks_prepare(bpf);
	if (err)
		return err;
	err = pinch_bpf__attach(bpf);
	if (err)
		return fail(err, "cannot attach to the scheduler's tracepoints (%s)",
			    libbpf_complaint);
	/* Where functions cannot be traced, threads' last slices have no stack. */
	if (bpf_program__autoload(bpf->progs.exit_begin))
		bpf->links.exit_begin = bpf_program__attach(bpf->progs.exit_begin);
	kernel_allow_memory(kernel);
	kernel->iterator = bpf_program__attach_iter(bpf->progs.list_threads, NULL);
	kernel->waits_iterator = bpf_program__attach_iter(bpf->progs.list_waits, NULL);
	if (!kernel->iterator || !kernel->waits_iterator)
		return fail(-errno, "cannot list the kernel's threads");
	if (bpf->rodata->sample_each_ticks)
		kernel->sampler = sampler_follow_ticks(bpf->progs.sample_tick);
	else if (kernel->sample_period_ns)
		kernel->sampler = sampler_start_timers(bpf->progs.sample_timer,
						       kernel->sample_period_ns,
						       kernel->cpu_count);
	return kernel->acquisitions_spec ?
	       acquisitions_start(bpf, kernel->acquisitions_spec, &kernel->acquisitions) : 0;
}

void kernel_detach(struct kernel *kernel)
{
	sampler_stop(kernel->sampler);
	acquisitions_detach(kernel->acquisitions);
	bpf_link__destroy(kernel->iterator);
	bpf_link__destroy(kernel->waits_iterator);
	kernel->iterator = kernel->waits_iterator = NULL;
	while (kernel->resolver_count) {
		struct bpf_link **links = kernel->resolvers[--kernel->resolver_count];

		bpf_link__destroy(links[0]);
		bpf_link__destroy(links[1]);
	}
	while (kernel->function_link_count)
		bpf_link__destroy(kernel->function_links[--kernel->function_link_count]);
	if (kernel->bpf)
		pinch_bpf__detach(kernel->bpf);
}

int kernel_attach_resolver(struct kernel *kernel, const char *path, uint64_t file_offset)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options);
	struct bpf_program *programs[2] = {
		kernel->bpf->progs.resolve_begin, kernel->bpf->progs.resolve_end,
	};
	struct bpf_link **links = kernel->resolvers[kernel->resolver_count];
	int err;

	if (kernel->resolver_count == RESOLVERS_MAX)
		return -E2BIG;
	for (size_t i = 0; i < 2; i++) {
		options.retprobe = i;
		links[i] = bpf_program__attach_uprobe_opts(programs[i], -1, path, file_offset,
							   &options);
		if (links[i])
			continue;
		err = -errno;
		if (i)
			bpf_link__destroy(links[0]);
		return err;
	}
	kernel->resolver_count++;
	return 0;
}

int kernel_attach_function(struct kernel *kernel, const char *path, const struct function_place *place,
			   uint32_t span)
{
	struct bpf_link *link;

	if (kernel->function_link_count == FUNCTION_PLACES_MAX)
		return -E2BIG;
	link = spans_attach_function(kernel->bpf, path, place, span);
	if (!link)
		return -errno;
	if (kernel->function_link_count == kernel->function_link_room) {
		kernel->function_link_room = 2 * kernel->function_link_room + 16;
		kernel->function_links = xrealloc(kernel->function_links, kernel->function_link_room,
						  sizeof(*kernel->function_links));
	}
	kernel->function_links[kernel->function_link_count++] = link;
	return 0;
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
	return iterator_run(kernel->iterator, list_of_threads);
}

int kernel_list_waits(struct kernel *kernel)
{
	int err;

	kernel->bpf->bss->waits_left = 0;
	err = iterator_run(kernel->waits_iterator, list_of_threads);
	return err ? err : (int)kernel->bpf->bss->waits_left;
}

int kernel_list_holds(struct kernel *kernel)
{
	return kernel->acquisitions ? acquisitions_list(kernel->acquisitions) : 0;
}

static unsigned int rings_a_cpu(const struct kernel *kernel)
{
	return RINGS_A_CPU_MAX - !kernel->tells_system;
}

unsigned int kernel_ring_count(const struct kernel *kernel)
{
	return rings_a_cpu(kernel) * kernel->cpu_count;
}

bool kernel_drain(struct kernel *kernel, unsigned int i, ring_record_fn on_record, void *data)
{
	/* At the same time the session takes the first: a gap comes before what it was told to. */
	static const enum ring_kind kinds[RINGS_A_CPU_MAX] = {
		RING_MAIN, RING_KINDS, RING_SAMPLES, RING_SYSTEM,
	};
	const struct cpu_rings *cpu = &kernel->cpus[i / rings_a_cpu(kernel)];
	enum ring_kind kind = kinds[i % rings_a_cpu(kernel)];

	if (kind == RING_KINDS)
		return slot_ring_drain(cpu->slots, on_record, data);
	return ring_drain(cpu->rings[kind], on_record, data);
}

static double more_of(double fill, const struct kernel *kernel, const struct ring *ring)
{
	double here = (double)ring_fill_bytes(ring) / kernel->ring_bytes;

	return here > fill ? here : fill;
}

double kernel_fill(const struct kernel *kernel)
{
	double fill = 0;

	for (unsigned int i = 0; i < kernel->cpu_count; i++) {
		double slots = slot_ring_fill(kernel->cpus[i].slots);

		fill = slots > fill ? slots : fill;
		fill = more_of(fill, kernel, kernel->cpus[i].rings[RING_MAIN]);
		if (kernel->tells_system)
			fill = more_of(fill, kernel, kernel->cpus[i].rings[RING_SYSTEM]);
	}
	return fill;
}

int kernel_unwind_chunks_fd(const struct kernel *kernel)
{
	return bpf_map__fd(kernel->bpf->maps.unwind_chunks);
}

int kernel_unwind_spaces_fd(const struct kernel *kernel)
{
	return bpf_map__fd(kernel->bpf->maps.unwind_spaces);
}

unsigned int kernel_cpu_count(const struct kernel *kernel)
{
	return kernel->cpu_count;
}

int kernel_bell_fd(const struct kernel *kernel)
{
	return bpf_map__fd(kernel->bpf->maps.bell);
}

static int on_ring_of_bell(void *data __attribute__((unused)),
			   const void *record __attribute__((unused)),
			   size_t size_bytes __attribute__((unused)))
{
	return 0;
}

void kernel_hush(struct kernel *kernel)
{
	ring_drain(kernel->bell, on_ring_of_bell, NULL);
}

void kernel_allow_memory(struct kernel *kernel)
{
	for (unsigned int i = 0; i < kernel->cpu_count; i++) {
		struct cpu_counts *cpu = &kernel->bpf->bss->cpu_counts[i];

		cpu->memory_allowed = cpu->memory_sent + MEMORY_AT_ONCE;
	}
}

void kernel_set_keep_all_above(struct kernel *kernel, uint32_t weight_ns)
{
	kernel->bpf->bss->keep_all_above_ns = weight_ns;
}

/* Within a step of 256 ns, times are taken to be spread evenly. */
static uint64_t median_ns(const uint64_t *times)
{
	uint64_t count = 0, below = 0;
	size_t i = 0;

	for (size_t k = 0; k < STACK_TIMES; k++)
		count += times[k];
	if (!count)
		return 0;
	while (2 * (below + times[i]) < count)
		below += times[i++];
	return (uint64_t)((i + (count / 2.0 - below) / times[i]) * (1 << STACK_TIME_SHIFT));
}

struct kernel_counts kernel_counts(const struct kernel *kernel)
{
	struct kernel_counts counts = { 0 };
	uint64_t timed_ns = 0, timed_runs = 0, stack_times[STACK_TIMES] = { 0 };

	for (unsigned int i = 0; i < kernel->cpu_count; i++) {
		const struct cpu_counts *cpu = &kernel->bpf->bss->cpu_counts[i];

		counts.lost += cpu->lost;
		counts.stack_ns += cpu->stack_ns;
		counts.stack_frames += cpu->stack_frames;
		for (size_t end = 0; end < STACK_ENDS; end++)
			counts.stack_ends[end] += cpu->stack_ends[end];
		for (size_t k = 0; k < STACK_TIMES; k++)
			stack_times[k] += cpu->stack_times[k];
		counts.samples_lost += cpu->samples_lost;
		counts.hidden += cpu->hidden;
		counts.runs += cpu->runs;
		timed_ns += cpu->timed_ns;
		timed_runs += cpu->timed_runs;
	}
	counts.stack_median_ns = median_ns(stack_times);
	if (timed_runs)
		counts.run_ns = (double)timed_ns / timed_runs * counts.runs;
	counts.threads_alive = kernel->bpf->bss->threads_alive;
	counts.threads_untracked = kernel->bpf->bss->threads_untracked;
	return counts;
}

uint64_t kernel_system_lost(const struct kernel *kernel)
{
	return system_lost(kernel->bpf);
}

uint64_t kernel_klocks_lost(const struct kernel *kernel)
{
	return klocks_lost(kernel->bpf);
}

const char *kernel_sampling_note(const struct kernel *kernel)
{
	return sampler_note(kernel->sampler);
}

void kernel_put_acquisition_notes(const struct kernel *kernel, struct text *notes)
{
	if (kernel->acquisitions)
		acquisitions_put_notes(kernel->acquisitions, notes);
}
