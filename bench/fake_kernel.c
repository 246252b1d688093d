// SPDX-License-Identifier: GPL-2.0-or-later
#include "fake_kernel.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "collect/kernel.h"
#include "collect/ring/ring_sizes.h"
#include "collect/ring/slot_ring.h"
#include "collect/urgency.h"
#include "fake_clock.h"
#include "session/event_kinds.h"
#include "trace/trace_reader.h"

enum { RINGS_A_CPU = 3, OWN_FDS = 64 };

/* A BPF ring buffer in a file. What would wrap goes on behind its end, where the reader has it mapped again. */
struct record_ring {
	struct ring *reader;
	int fd;
	size_t size_bytes;
	uint64_t produced;
};

struct cpu {
	struct slot_ring *slots;
	struct record_ring main, samples;
};

struct kernel {
	struct trace_reader *trace;
	const struct ev_header *next; /* the event to write next; NULL: there is none */
	struct ring_sizes sizes;
	unsigned int cpu_count;
	struct cpu *cpus;
	struct cpu_counts *counts; /* by CPU */
	struct slot *slots;        /* of all CPUs */
	size_t slots_bytes;
	int slots_fd;
	uint16_t *last_cpus; /* by the thread's number: where it ran last */
	size_t thread_count;
	uint64_t lost, samples_lost;
};

/* --- Rings ---------------------------------------------------------------------------------- */

static size_t page_bytes(void)
{
	return sysconf(_SC_PAGESIZE);
}

static int record_ring_open(struct record_ring *ring, size_t size_bytes)
{
	ring->size_bytes = size_bytes;
	ring->fd = memfd_create("ring", MFD_CLOEXEC);
	if (ring->fd < 0 || ftruncate(ring->fd, 2 * page_bytes() + 2 * size_bytes))
		return -errno;
	return ring_open(ring->fd, size_bytes, &ring->reader);
}

static void record_ring_close(struct record_ring *ring)
{
	ring_close(ring->reader);
	if (ring->fd > 0)
		close(ring->fd);
}

/* Whether there was space for it. */
static bool record_ring_put(struct record_ring *ring, const struct ev_header *header)
{
	uint32_t size_bytes = event_bytes(header), begin[] = { size_bytes, 0 };
	uint64_t whole_bytes = (sizeof(begin) + size_bytes + 7) / 8 * 8, produced = ring->produced + whole_bytes;
	off_t at = 2 * page_bytes() + (ring->produced & (ring->size_bytes - 1));
	const struct iovec parts[] = { { begin, sizeof(begin) }, { (void *)header, size_bytes } };

	_Static_assert(sizeof(begin) == BPF_RINGBUF_HDR_SZ, "what each record begins with");
	if (ring_fill_bytes(ring->reader) + whole_bytes > ring->size_bytes)
		return false;
	if (pwritev(ring->fd, parts, 2, at) < 0 || pwrite(ring->fd, &produced, sizeof(produced), page_bytes()) < 0)
		return false;
	ring->produced = produced;
	return true;
}

static bool slot_put(struct kernel *kernel, unsigned int cpu, const struct ev_header *header)
{
	struct cpu_counts *counts = &kernel->counts[cpu];
	uint32_t mask = kernel->sizes.slots - 1;

	if (counts->slots_begun - counts->slots_read > mask)
		return false;
	memcpy(&kernel->slots[cpu * kernel->sizes.slots + (counts->slots_begun & mask)], header, event_bytes(header));
	counts->slots_begun++;
	__atomic_store_n(&counts->slots_done, counts->slots_begun, __ATOMIC_RELEASE);
	return true;
}

/* --- On which CPU it happened --------------------------------------------------------------- */

static unsigned int last_cpu(const struct kernel *kernel, uint32_t thread)
{
	return thread < kernel->thread_count ? kernel->last_cpus[thread] : 0;
}

static void set_last_cpu(struct kernel *kernel, uint32_t thread, unsigned int cpu)
{
	size_t count = 2 * (size_t)thread + 1;

	if (thread >= kernel->thread_count) {
		kernel->last_cpus = xrealloc(kernel->last_cpus, count, sizeof(*kernel->last_cpus));
		memset(kernel->last_cpus + kernel->thread_count, 0,
		       (count - kernel->thread_count) * sizeof(*kernel->last_cpus));
		kernel->thread_count = count;
	}
	kernel->last_cpus[thread] = cpu;
}

static unsigned int switch_cpu(struct kernel *kernel, const struct ev_sched_switch *e)
{
	unsigned int cpu = e->cpu < kernel->cpu_count ? e->cpu : 0;

	if (e->header.thread)
		set_last_cpu(kernel, e->header.thread, cpu);
	if (e->next)
		set_last_cpu(kernel, e->next, cpu);
	return cpu;
}

/* Where the waker runs; an interrupt comes to where the thread ran. */
static unsigned int wake_cpu(const struct kernel *kernel, const struct ev_sched_wake *e)
{
	return last_cpu(kernel, e->waker ? e->waker : e->header.thread);
}

static void put_event(struct kernel *kernel, const struct ev_header *header)
{
	struct cpu *here = &kernel->cpus[last_cpu(kernel, header->thread)];
	bool is_put;

	switch (header->subsys << 16 | header->event) {
	case EV_SCHED_SWITCH:
		is_put = slot_put(kernel, switch_cpu(kernel, (const void *)header), header);
		break;
	case EV_SCHED_WAKE:
		is_put = slot_put(kernel, wake_cpu(kernel, (const void *)header), header);
		break;
	case EV_SCHED_SAMPLE:
		kernel->samples_lost += !record_ring_put(&here->samples, header);
		return;
	default:
		is_put = record_ring_put(&here->main, header);
		break;
	}
	kernel->lost += !is_put;
}

/* What of the trace is damaged is left out. */
static void read_next(struct kernel *kernel)
{
	int got;

	while ((got = trace_reader_next(kernel->trace, &kernel->next)) == -EBADMSG)
		;
	if (got != 1)
		kernel->next = NULL;
}

/* Writes what has happened by now. */
static void catch_up(struct kernel *kernel)
{
	uint64_t now_ns = clock_ns();

	fake_clock_stop();
	while (kernel->next && kernel->next->time_ns <= now_ns) {
		put_event(kernel, kernel->next);
		read_next(kernel);
	}
	fake_clock_go_on();
}

/* --- The machine ---------------------------------------------------------------------------- */

/* Each ring of records has a descriptor. */
static void allow_descriptors(unsigned int cpu_count)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	if (limit.rlim_cur < 2 * cpu_count + OWN_FDS)
		limit.rlim_cur = 2 * cpu_count + OWN_FDS;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_cpu(struct kernel *kernel, unsigned int cpu)
{
	struct cpu *here = &kernel->cpus[cpu];
	uint32_t slots = kernel->sizes.slots;
	int err = record_ring_open(&here->main, kernel->sizes.main_bytes);

	if (!err)
		err = record_ring_open(&here->samples, kernel->sizes.sample_bytes);
	here->slots = slot_ring_new(kernel->slots_fd, (size_t)cpu * slots * sizeof(*kernel->slots), slots,
				    &kernel->counts[cpu]);
	return err;
}

int fake_kernel_open(struct trace_reader *trace, unsigned int cpu_count, size_t slots_bytes, struct kernel **out)
{
	struct kernel *kernel = xcalloc(1, sizeof(*kernel));
	int err = 0;

	kernel->trace = trace;
	kernel->cpu_count = cpu_count;
	kernel->sizes = ring_sizes_choose(cpu_count, slots_bytes);
	kernel->slots_bytes = (size_t)cpu_count * kernel->sizes.slots * sizeof(struct slot);
	kernel->slots_fd = memfd_create("slots", MFD_CLOEXEC);
	if (ftruncate(kernel->slots_fd, kernel->slots_bytes))
		err = -errno;
	kernel->slots = mmap(NULL, kernel->slots_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kernel->slots_fd, 0);
	if (kernel->slots == MAP_FAILED) {
		kernel->slots = NULL;
		err = -errno;
	}
	kernel->counts = xcalloc(cpu_count, sizeof(*kernel->counts));
	kernel->cpus = xcalloc(cpu_count, sizeof(*kernel->cpus));
	allow_descriptors(cpu_count);
	for (unsigned int cpu = 0; cpu < cpu_count && !err; cpu++)
		err = open_cpu(kernel, cpu);
	if (err) {
		fake_kernel_close(kernel);
		return fail(err, "cannot make the rings of %u CPUs", cpu_count);
	}
	read_next(kernel);
	*out = kernel;
	return 0;
}

void fake_kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	for (unsigned int cpu = 0; cpu < kernel->cpu_count; cpu++) {
		slot_ring_free(kernel->cpus[cpu].slots);
		record_ring_close(&kernel->cpus[cpu].main);
		record_ring_close(&kernel->cpus[cpu].samples);
	}
	if (kernel->slots)
		munmap(kernel->slots, kernel->slots_bytes);
	close(kernel->slots_fd);
	free(kernel->cpus);
	free(kernel->counts);
	free(kernel->last_cpus);
	free(kernel);
}

bool fake_kernel_is_over(const struct kernel *kernel)
{
	return !kernel->next;
}

/* --- collect/kernel.h ----------------------------------------------------------------------- */

unsigned int kernel_ring_count(const struct kernel *kernel)
{
	return RINGS_A_CPU * kernel->cpu_count;
}

unsigned int kernel_cpu_count(const struct kernel *kernel)
{
	return kernel->cpu_count;
}

/* In the order of collect/ring/cpu_rings.c. */
bool kernel_drain(struct kernel *kernel, unsigned int ring, ring_record_fn on_record, void *data)
{
	struct cpu *cpu = &kernel->cpus[ring / RINGS_A_CPU];

	switch (ring % RINGS_A_CPU) {
	case 0:
		return ring_drain(cpu->main.reader, on_record, data);
	case 1:
		return slot_ring_drain(cpu->slots, on_record, data);
	default:
		return ring_drain(cpu->samples.reader, on_record, data);
	}
}

/* The collector asks when it has read the clock, and before it reads any ring. */
double kernel_fill(const struct kernel *kernel)
{
	double fill = 0;

	catch_up((struct kernel *)kernel);
	for (unsigned int i = 0; i < kernel->cpu_count; i++) {
		const struct cpu *cpu = &kernel->cpus[i];
		double slots = slot_ring_fill(cpu->slots);
		double records = (double)ring_fill_bytes(cpu->main.reader) / cpu->main.size_bytes;

		fill = slots > fill ? slots : fill;
		fill = records > fill ? records : fill;
	}
	return fill;
}

struct kernel_counts kernel_counts(const struct kernel *kernel)
{
	return (struct kernel_counts){ .lost = kernel->lost, .samples_lost = kernel->samples_lost };
}

void kernel_set_keep_all_above(struct kernel *kernel, uint32_t weight_ns)
{
	(void)kernel;
	(void)weight_ns;
}

struct loop_watch *kernel_loop_watch(struct kernel *kernel)
{
	(void)kernel;
	return NULL;
}

/* Nobody asks for lists of what is not there. */

int kernel_list_threads(struct kernel *kernel)
{
	(void)kernel;
	return 0;
}

int kernel_list_waits(struct kernel *kernel)
{
	(void)kernel;
	return 0;
}

int kernel_list_long_waits(struct kernel *kernel, uint64_t age_ns, uint32_t count)
{
	(void)kernel;
	(void)age_ns;
	(void)count;
	return 0;
}

int kernel_list_listeners(struct kernel *kernel, bool is_second)
{
	(void)kernel;
	(void)is_second;
	return 0;
}

bool kernel_has_new_input(const struct kernel *kernel)
{
	(void)kernel;
	return false;
}

int kernel_list_holds(struct kernel *kernel)
{
	(void)kernel;
	return 0;
}

/* --- collect/urgency.h: this process is in no hurry ----------------------------------------- */

bool urgency_is_expected(void)
{
	return false;
}

void urgency_apply(struct urgency *urgency, uint64_t now_ns, bool is_late)
{
	(void)urgency;
	(void)now_ns;
	(void)is_late;
}

void urgency_end(struct urgency *urgency)
{
	(void)urgency;
}
