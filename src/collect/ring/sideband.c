/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/ring/sideband.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/table.h"

enum {
	DATA_PAGES_MAX = 256, /* a CPU; a power of two */
	DATA_PAGES_MIN = 64,
	DATA_PAGES_TOTAL = 16384, /* on large machines each CPU gets its share of this */
	RECORD_BYTES_MAX = 65536,
	PATH_BYTES_MAX = 4096,
};

struct cpu_buffer {
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t end; /* records up to here are drained this time */
};

struct sideband {
	struct cpu_buffer *buffers;
	unsigned int cpu_count;
	size_t page_bytes, data_bytes; /* of data, a CPU */
	struct table *followed;        /* by pid; the values only say that it is there */
	bool follows_all;
	uint64_t lost;
	/* Where records go while they are drained. */
	struct session *session;
	unsigned int stream;
	/* A record that wraps around the end of its buffer, put together; and one to send. */
	_Alignas(8) char record[RECORD_BYTES_MAX];
	_Alignas(8) char event[sizeof(struct ev_space_map) + PATH_BYTES_MAX + 8];
};

/* The layouts that our attributes ask for: linux/perf_event.h, enum perf_event_type. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time_ns;
};

struct record_mmap2 {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, size, file_offset;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t protection, flags;
	char path[];
};

struct record_task {
	struct perf_event_header header;
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time_ns;
};

struct record_comm {
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct record_lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

/*
 * Does not ask for build-ids: a kernel that has given one to us gives all other readers that
 * their records have one, too (perf_event_mmap_output() leaves its mark), and perf fails on that.
 */
static int open_cpu(struct sideband *sideband, unsigned int cpu)
{
	struct cpu_buffer *buffer = &sideband->buffers[cpu];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.watermark = 1,
		.wakeup_watermark = UINT32_MAX,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	void *memory;

	buffer->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (buffer->fd < 0)
		return -errno;
	memory = mmap(NULL, sideband->data_bytes + sideband->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd,
		      0);
	if (memory == MAP_FAILED)
		return -errno;
	buffer->page = memory;
	return 0;
}

static size_t choose_pages(unsigned int cpu_count)
{
	size_t pages = DATA_PAGES_MAX;

	while (pages > DATA_PAGES_MIN && pages * cpu_count > DATA_PAGES_TOTAL)
		pages /= 2;
	return pages;
}

int sideband_open(struct sideband **out)
{
	struct sideband *sideband = xcalloc(1, sizeof(*sideband));
	unsigned int opened = 0;
	int err = -ENODEV;

	sideband->page_bytes = sysconf(_SC_PAGESIZE);
	sideband->cpu_count = libbpf_num_possible_cpus();
	sideband->data_bytes = choose_pages(sideband->cpu_count) * sideband->page_bytes;
	sideband->buffers = xcalloc(sideband->cpu_count, sizeof(*sideband->buffers));
	sideband->followed = table_new();
	for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++)
		sideband->buffers[cpu].fd = -1;
	for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++) {
		int e = open_cpu(sideband, cpu);

		opened += !e;
		if (e && e != -ENODEV)
			err = e;
	}
	if (!opened) {
		sideband_close(sideband);
		return err;
	}
	*out = sideband;
	return 0;
}

void sideband_close(struct sideband *sideband)
{
	if (!sideband)
		return;
	for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++) {
		struct cpu_buffer *buffer = &sideband->buffers[cpu];

		if (buffer->page)
			munmap(buffer->page, sideband->data_bytes + sideband->page_bytes);
		if (buffer->fd >= 0)
			close(buffer->fd);
	}
	free(sideband->buffers);
	table_free(sideband->followed);
	free(sideband);
}

void sideband_follow(struct sideband *sideband, uint32_t pid)
{
	table_put(sideband->followed, pid, sideband);
}

void sideband_follow_all(struct sideband *sideband)
{
	sideband->follows_all = true;
}

static bool is_followed(const struct sideband *sideband, uint32_t pid)
{
	return sideband->follows_all || table_find(sideband->followed, pid);
}

static void header_fill(struct ev_header *header, enum event_id id, uint64_t time_ns)
{
	*header = (struct ev_header){ .time_ns = time_ns, .subsys = id >> 16, .event = id & 0xffff };
}

static void push(struct sideband *sideband, const void *event, size_t size_bytes)
{
	if (session_push(sideband->session, sideband->stream, event, size_bytes) == -ENOSPC)
		sideband->lost++;
}

static void on_mmap2(struct sideband *sideband, const struct record_mmap2 *record, uint64_t time_ns)
{
	struct ev_space_map *e = (struct ev_space_map *)sideband->event;
	size_t path_bytes = strnlen(record->path, PATH_BYTES_MAX - 1) + 1;
	size_t size_bytes = (sizeof(*e) + path_bytes + 7) / 8 * 8;

	memset(e, 0, size_bytes);
	header_fill(&e->header, EV_SPACE_MAP, time_ns);
	e->pid = record->pid;
	e->start = record->start;
	e->size = record->size;
	e->file_offset = record->file_offset;
	/* Another reader may have asked for the build-id, which takes the place of these. */
	if (!(record->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID)) {
		e->major = record->major;
		e->minor = record->minor;
		e->inode = record->inode;
	}
	memcpy(e->path, record->path, path_bytes - 1);
	push(sideband, e, size_bytes);
}

/* The fork of a process that we follow, as opposed to a thread's or somebody else's. */
static bool is_our_fork(const struct sideband *sideband, const struct record_task *record)
{
	return record->pid != record->parent_pid && is_followed(sideband, record->parent_pid);
}

static void on_fork(struct sideband *sideband, const struct record_task *record)
{
	struct ev_space_fork e = { .pid = record->pid, .parent_pid = record->parent_pid };

	if (!is_our_fork(sideband, record)) {
		/* Somebody else's process takes the id of one that we followed. */
		if (record->pid != record->parent_pid && !sideband->follows_all)
			table_take(sideband->followed, record->pid);
		return;
	}
	header_fill(&e.header, EV_SPACE_FORK, record->time_ns);
	push(sideband, &e, sizeof(e));
}

static void on_exec(struct sideband *sideband, uint32_t pid, uint64_t time_ns)
{
	struct ev_space_exec e = { .pid = pid };

	header_fill(&e.header, EV_SPACE_EXEC, time_ns);
	push(sideband, &e, sizeof(e));
}

static void on_record(struct sideband *sideband, const struct perf_event_header *header)
{
	/* The sample id ends each record but LOST, whose own fields come first as well. */
	const struct sample_id *id = (const void *)((const char *)header + header->size - sizeof(*id));
	const struct record_mmap2 *map = (const void *)header;
	const struct record_task *task = (const void *)header;
	const struct record_comm *comm = (const void *)header;

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		if (is_followed(sideband, map->pid))
			on_mmap2(sideband, map, id->time_ns);
		break;
	case PERF_RECORD_FORK:
		on_fork(sideband, task);
		break;
	case PERF_RECORD_COMM:
		if ((header->misc & PERF_RECORD_MISC_COMM_EXEC) && is_followed(sideband, comm->pid))
			on_exec(sideband, comm->pid, id->time_ns);
		break;
	case PERF_RECORD_LOST:
		sideband->lost += ((const struct record_lost *)header)->lost;
		break;
	}
}

/* The record at position, made contiguous when it wraps. */
static const struct perf_event_header *record_at(struct sideband *sideband, const char *data, uint64_t position)
{
	size_t at = position & (sideband->data_bytes - 1);
	const struct perf_event_header *header = (const void *)(data + at);
	size_t first = sideband->data_bytes - at;

	if (header->size <= first)
		return header;
	memcpy(sideband->record, header, first);
	memcpy(sideband->record + first, data, header->size - first);
	return (const void *)sideband->record;
}

static uint64_t head_of(const struct perf_event_mmap_page *page)
{
	/* Pairs with the kernel's barrier between a record and its position. */
	return __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
}

/* Calls on_one with each record of a CPU up to end; returns the position after the last. */
static uint64_t walk(struct sideband *sideband, const struct cpu_buffer *buffer, uint64_t end,
		     void (*on_one)(struct sideband *sideband, const struct perf_event_header *header))
{
	const char *data = (const char *)buffer->page + sideband->page_bytes;
	uint64_t position = buffer->page->data_tail;

	while (position < end) {
		const struct perf_event_header *header = record_at(sideband, data, position);

		if (header->size < sizeof(*header))
			break;
		on_one(sideband, header);
		position += header->size;
	}
	return position;
}

static void follow_fork(struct sideband *sideband, const struct perf_event_header *header)
{
	const struct record_task *task = (const void *)header;

	if (header->type == PERF_RECORD_FORK && is_our_fork(sideband, task))
		sideband_follow(sideband, task->pid);
}

/*
 * A child may have run on another CPU than the fork that made it: know all the forks, those
 * of children's children too, before examining what the children did.
 */
static void follow_forks(struct sideband *sideband)
{
	size_t before;

	do {
		before = table_count(sideband->followed);
		for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++) {
			const struct cpu_buffer *buffer = &sideband->buffers[cpu];

			/* Later than any end: what is drained has its fork in here. */
			if (buffer->page)
				walk(sideband, buffer, head_of(buffer->page), follow_fork);
		}
	} while (table_count(sideband->followed) > before);
}

void sideband_drain(struct sideband *sideband, struct session *session, unsigned int stream)
{
	sideband->session = session;
	sideband->stream = stream;
	for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++)
		if (sideband->buffers[cpu].page)
			sideband->buffers[cpu].end = head_of(sideband->buffers[cpu].page);
	if (!sideband->follows_all)
		follow_forks(sideband);
	for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++) {
		struct cpu_buffer *buffer = &sideband->buffers[cpu];

		if (buffer->page)
			buffer->end = walk(sideband, buffer, buffer->end, on_record);
	}
	for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++) {
		struct cpu_buffer *buffer = &sideband->buffers[cpu];

		if (buffer->page)
			__atomic_store_n(&buffer->page->data_tail, buffer->end, __ATOMIC_RELEASE);
	}
}

double sideband_fill(const struct sideband *sideband)
{
	uint64_t waiting_max = 0;

	for (unsigned int cpu = 0; cpu < sideband->cpu_count; cpu++) {
		const struct perf_event_mmap_page *page = sideband->buffers[cpu].page;
		uint64_t waiting = page ? head_of(page) - page->data_tail : 0;

		if (waiting > waiting_max)
			waiting_max = waiting;
	}
	return (double)waiting_max / sideband->data_bytes;
}

uint64_t sideband_lost(const struct sideband *sideband)
{
	return sideband->lost;
}
